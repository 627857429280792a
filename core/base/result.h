// A value or the sentence that says why there is none.
//
// Functions that can fail return Result<T>. The message of an Error is shown to a person as it
// stands: it names the thing, says what is wrong with it and what to do, in one plain sentence,
// without a trailing newline.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tilescope {

struct Error {
    std::string message;
};

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& value() { return assert(*this), std::get<0>(state_); }
    const T& value() const { return assert(*this), std::get<0>(state_); }
    const Error& error() const { return assert(!*this), std::get<1>(state_); }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return !error_; }
    const Error& error() const { return assert(error_), *error_; }

private:
    std::optional<Error> error_;
};

}  // namespace tilescope
