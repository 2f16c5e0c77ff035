#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `base` to the power of `exponent`.
func power(_ base: Float, _ exponent: Float) -> Float { powf(base, exponent) }
