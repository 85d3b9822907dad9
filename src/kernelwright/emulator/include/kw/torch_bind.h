// PYBIND11_MODULE, TORCH_LIBRARY and what stands inside them.
#pragma once
#include "kw/bind_function.h"

namespace kw {

void addModuleFunction(Bound bound);
void addLibraryFunction(const std::string& library, const std::string& schema, Bound bound);
void addLibrarySchema(const std::string& library, const std::string& schema);

}  // namespace kw

namespace pybind11 {

class none {};

// A parameter's name, and its default after `=`.
struct arg {
  explicit arg(const char* text) : name(text) {}
  template <typename T>
  arg& operator=(const T& given) {
    hasDefault = true;
    if constexpr (std::is_same<T, none>::value || std::is_same<T, std::nullopt_t>::value ||
                  std::is_same<T, std::nullptr_t>::value) {
      value = ::kw::Value();
    } else if constexpr (std::is_array<T>::value) {
      value = ::kw::Caster<std::string>::write(given);
    } else {
      value = ::kw::Caster<std::decay_t<T>>::write(given);
    }
    return *this;
  }
  std::string name;
  bool hasDefault = false;
  ::kw::Value value;
};
struct arg_v : arg {
  template <typename T>
  arg_v(const char* text, const T& given) : arg(text) { *this = given; }
};
struct kw_only {};
struct pos_only {};
template <typename T>
struct call_guard {};
class gil_scoped_release {};
class gil_scoped_acquire {};

class module_ {
 public:
  template <typename F, typename... Extra>
  module_& def(const char* name, F&& function, const Extra&... extra) {
    ::kw::Bound bound = ::kw::boundFunction(std::forward<F>(function));
    bound.name = name;
    size_t next = 0;
    (take(bound, next, extra), ...);
    ::kw::addModuleFunction(std::move(bound));
    return *this;
  }
  std::string& doc() { return doc_; }
  template <typename T>
  void attr_set(const char*, const T&) {}

 private:
  static void take(::kw::Bound& bound, size_t&, const char* text) { bound.doc = text; }
  static void take(::kw::Bound& bound, size_t& next, const arg& named) {
    if (next >= bound.parameters.size()) return;
    ::kw::Parameter& parameter = bound.parameters[next++];
    parameter.name = named.name;
    parameter.hasDefault = named.hasDefault;
    parameter.defaultValue = named.value;
  }
  template <typename T>
  static void take(::kw::Bound&, size_t&, const T&) {}
  std::string doc_;
};
using module = module_;

inline namespace literals {
inline arg operator""_a(const char* text, size_t) { return arg(text); }
}  // namespace literals

}  // namespace pybind11
namespace py = pybind11;

namespace torch {

class CppFunction {
 public:
  template <typename F>
  CppFunction(F&& function) : bound(::kw::boundFunction(std::forward<F>(function))) {}
  ::kw::Bound bound;
};
template <typename F>
CppFunction dispatch(c10::DeviceType, F&& function) {
  return CppFunction(std::forward<F>(function));
}

class Library {
 public:
  explicit Library(const char* name) : name_(name) {}
  Library& def(const char* schema) {
    ::kw::addLibrarySchema(name_, schema);
    return *this;
  }
  template <typename F>
  Library& def(const char* schema, F&& function) {
    return impl(schema, std::forward<F>(function));
  }
  template <typename F>
  Library& impl(const char* name, F&& function) {
    if constexpr (std::is_same<std::decay_t<F>, CppFunction>::value) {
      ::kw::addLibraryFunction(name_, name, function.bound);
    } else {
      ::kw::addLibraryFunction(name_, name, ::kw::boundFunction(std::forward<F>(function)));
    }
    return *this;
  }

 private:
  std::string name_;
};

}  // namespace torch

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME custom_ops_lib
#endif
#define KW_JOIN2(a, b) a##b
#define KW_JOIN(a, b) KW_JOIN2(a, b)
#define PYBIND11_MODULE(module_name, variable) \
  static void KW_JOIN(kwInit_, module_name)(::pybind11::module_&); \
  [[maybe_unused]] static const int KW_JOIN(kwInited_, module_name) = [] { \
    ::pybind11::module_ created; \
    KW_JOIN(kwInit_, module_name)(created); \
    return 0; \
  }(); \
  static void KW_JOIN(kwInit_, module_name)(::pybind11::module_& variable)

#define KW_TORCH_LIBRARY(library, variable, unique) \
  static void KW_JOIN(kwLibrary_, unique)(::torch::Library&); \
  [[maybe_unused]] static const int KW_JOIN(kwLibraryRun_, unique) = [] { \
    ::torch::Library created(#library); \
    KW_JOIN(kwLibrary_, unique)(created); \
    return 0; \
  }(); \
  static void KW_JOIN(kwLibrary_, unique)([[maybe_unused]] ::torch::Library& variable)
#define TORCH_LIBRARY(library, variable) KW_TORCH_LIBRARY(library, variable, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(library, variable) KW_TORCH_LIBRARY(library, variable, __COUNTER__)
#define TORCH_LIBRARY_IMPL(library, key, variable) KW_TORCH_LIBRARY(library, variable, __COUNTER__)
#define TORCH_FN(function) (&function)
