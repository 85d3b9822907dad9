// AscendC::Std: what device code has of the C++ standard library.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

namespace AscendC {
namespace Std {

template <typename T, typename U>
constexpr T max(const T& a, const U& b) { return a < static_cast<T>(b) ? static_cast<T>(b) : a; }
template <typename T, typename U>
constexpr T min(const T& a, const U& b) { return static_cast<T>(b) < a ? static_cast<T>(b) : a; }
template <typename T>
constexpr T abs(const T& a) { return a < T(0) ? -a : a; }

using std::add_const;
using std::add_pointer;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::integral_constant;
using std::is_base_of;
using std::is_const;
using std::is_convertible;
using std::is_floating_point;
using std::is_integral;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::make_index_sequence;
using std::make_tuple;
using std::move;
using std::remove_const;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_reference;
using std::remove_reference_t;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

}  // namespace Std
}  // namespace AscendC
