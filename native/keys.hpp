// Scores as unsigned integers that sort the same way.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace CUTSCORE_ISA {

// key(a) < key(b)  <=>  a < b, for every pair of floats that are not NaN; -0.0 and 0.0 share a key.
// Written on the bits, not as x + 0.0, so that a process which flushes denormals (torch can switch
// that on) still keeps them apart.
template <class S>
struct Keys;

template <class S, class U, class I>
struct KeysOf {
    using Key = U;
    static constexpr int bits = std::numeric_limits<U>::digits;
    static constexpr U sign = U(1) << (bits - 1);

    static Key of(S score) noexcept {
        U b = std::bit_cast<U>(score);
        b = (b << 1) == 0 ? U(0) : b;
        return b ^ (U(I(b) >> (bits - 1)) | sign);
    }
    static S score(Key key) noexcept {
        return std::bit_cast<S>(U(key ^ (U(I(~key) >> (bits - 1)) | sign)));
    }
    // NaN is above `magnitude(inf)`, and so is nothing else.
    static U magnitude(S score) noexcept { return std::bit_cast<U>(score) & U(~sign); }
};

template <>
struct Keys<float> : KeysOf<float, std::uint32_t, std::int32_t> {};
template <>
struct Keys<double> : KeysOf<double, std::uint64_t, std::int64_t> {};

}  // namespace CUTSCORE_ISA
