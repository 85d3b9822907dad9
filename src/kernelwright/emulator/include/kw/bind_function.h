// Turns C++ functions into ones that take and give `Value`s.
#pragma once
#include "kw/bind_value.h"

namespace kw {

// What a parameter is held as during the call: views need an owner.
template <typename T>
struct Held {
  using Type = std::decay_t<T>;
  explicit Held(const Value& value) : value_(Caster<Type>::read(value)) {}
  static const char* name() { return Caster<Type>::name(); }
  Type& get() { return value_; }
  Type value_;
};
template <typename T>
struct Held<c10::ArrayRef<T>> {
  explicit Held(const Value& value) : values_(Caster<std::vector<T>>::read(value)) {}
  static const char* name() { return Caster<std::vector<T>>::name(); }
  c10::ArrayRef<T> get() { return values_; }
  std::vector<T> values_;
};
template <typename T>
struct Held<std::optional<c10::ArrayRef<T>>> {
  explicit Held(const Value& value)
      : values_(Caster<std::optional<std::vector<T>>>::read(value)) {}
  static const char* name() { return Caster<std::optional<std::vector<T>>>::name(); }
  std::optional<c10::ArrayRef<T>> get() {
    if (!values_.has_value()) return std::nullopt;
    return c10::ArrayRef<T>(*values_);
  }
  std::optional<std::vector<T>> values_;
};
template <>
struct Held<const char*> {
  explicit Held(const Value& value) : text_(Caster<std::string>::read(value)) {}
  static const char* name() { return "str"; }
  const char* get() { return text_.c_str(); }
  std::string text_;
};

struct Parameter {
  std::string name;
  std::string type;
  bool hasDefault = false;
  Value defaultValue;
};

// A bound function: `call` reads the values, in order, one a parameter.
struct Bound {
  std::string name;
  std::string doc;
  std::vector<Parameter> parameters;
  std::shared_ptr<void> function;
  Value (*call)(void* function, const std::vector<Value>& values) = nullptr;
};

template <typename T>
Value resultValue(T&& result) {
  return Caster<std::decay_t<T>>::write(result);
}

template <typename F, typename R, typename... Args>
struct Thunk {
  template <size_t... I>
  static Value run(F& function, const std::vector<Value>& values, std::index_sequence<I...>) {
    std::tuple<Held<std::remove_cv_t<std::remove_reference_t<Args>>>...> held{
        Held<std::remove_cv_t<std::remove_reference_t<Args>>>(values[I])...};
    (void)values;
    if constexpr (std::is_void<R>::value) {
      function(std::get<I>(held).get()...);
      return Value();
    } else {
      return resultValue(function(std::get<I>(held).get()...));
    }
  }
  static Value call(void* function, const std::vector<Value>& values) {
    return run(*static_cast<F*>(function), values, std::index_sequence_for<Args...>());
  }
};

template <typename F, typename R, typename... Args>
Bound boundAs(F function) {
  Bound bound;
  bound.function = std::make_shared<F>(std::move(function));
  bound.call = &Thunk<F, R, Args...>::call;
  size_t index = 0;
  (bound.parameters.push_back({"arg" + std::to_string(index++),
                               Held<std::remove_cv_t<std::remove_reference_t<Args>>>::name(),
                               false, Value()}),
   ...);
  return bound;
}

template <typename R, typename... Args>
Bound boundFunction(R (*function)(Args...)) {
  return boundAs<R (*)(Args...), R, Args...>(function);
}
template <typename F, typename R, typename... Args>
Bound boundLambda(F function, R (F::*)(Args...) const) {
  return boundAs<F, R, Args...>(std::move(function));
}
template <typename F, typename = decltype(&F::operator())>
Bound boundFunction(F function) {
  return boundLambda(std::move(function), &F::operator());
}

}  // namespace kw
