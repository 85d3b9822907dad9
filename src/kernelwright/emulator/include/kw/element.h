// What tensor(i) returns: reads and writes of one element by the scalar unit, with their checks.
#pragma once
#include "kw/dtype.h"

namespace kw {

template <typename T, bool isGlobal>
class Element {
 public:
  KW_API explicit Element(T* address) : address_(address) {}
  KW_API Element(const Element&) = default;
  KW_API T get() const {
    const bool may = isGlobal ? mayTouchGm(address_, sizeof(T), false)
                              : mayReadLocal(address_, sizeof(T));
    return may ? *address_ : T();
  }
  KW_API void set(T value) const {
    const bool may = isGlobal ? mayTouchGm(address_, sizeof(T), true, &value)
                              : mayWriteLocal(address_, sizeof(T));
    if (may) *address_ = value;
  }
  KW_API operator T() const { return get(); }
  KW_API const Element& operator=(const Element& other) const { set(other.get()); return *this; }
  template <typename U>
  KW_API const Element& operator=(const U& value) const { set(static_cast<T>(value)); return *this; }
  template <typename U>
  KW_API const Element& operator+=(const U& value) const { set(static_cast<T>(get() + value)); return *this; }
  template <typename U>
  KW_API const Element& operator-=(const U& value) const { set(static_cast<T>(get() - value)); return *this; }
  template <typename U>
  KW_API const Element& operator*=(const U& value) const { set(static_cast<T>(get() * value)); return *this; }
  template <typename U>
  KW_API const Element& operator/=(const U& value) const { set(static_cast<T>(get() / value)); return *this; }
  KW_API T* operator&() const { return address_; }

 private:
  T* address_;
};

}  // namespace kw
