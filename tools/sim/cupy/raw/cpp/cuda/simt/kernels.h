// How a kernel is called with arguments that only Python knows, and what its parameters are.
#pragma once

namespace simt {

template <class T> constexpr char kind_of() {
    if (std::is_pointer_v<T>) return 'p';
    if (std::is_same_v<T, bool>) return 'b';
    if (std::is_floating_point_v<T>) return 'f';
    if (std::is_integral_v<T> || std::is_enum_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
    return '.';
}

template <class T, class = void> struct Size { static constexpr unsigned bytes = 0; };
template <class T> struct Size<T, std::void_t<decltype(sizeof(T))>> { static constexpr unsigned bytes = sizeof(T); };
template <> struct Size<void> { static constexpr unsigned bytes = 0; };

template <class P> constexpr Parameter describe() {
    using T = std::remove_cv_t<P>;
    using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
    return {sizeof(T), kind_of<T>(), Size<Element>::bytes, kind_of<Element>(),
            std::is_const_v<std::remove_pointer_t<T>>};
}

template <class... P> struct Call {
    static constexpr Parameter parameters[sizeof...(P) + 1] = {describe<P>()...};

    template <size_t... I>
    SIMT_PLAIN static void with(void (*function)(P...), void** arguments, std::index_sequence<I...>) {
        function(*static_cast<std::remove_cv_t<P>*>(arguments[I])...);
    }
    SIMT_PLAIN static void call(void (*function)(), void** arguments) {
        with(reinterpret_cast<void (*)(P...)>(function), arguments, std::index_sequence_for<P...>());
    }
};

template <class... P> SIMT_PLAIN Kernel kernel(void (*function)(P...)) {
    return {Call<P...>::call, reinterpret_cast<void (*)()>(function), sizeof...(P), Call<P...>::parameters};
}

}  // namespace simt
