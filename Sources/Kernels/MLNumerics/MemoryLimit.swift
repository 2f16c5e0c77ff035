import Glibc

/// Limits on the memory that a model may request, from the machine's size.
package enum MemoryLimit {
    /// The bytes of main memory.
    package static let byteCount: Int = {
        let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
        return pages > 0 && size > 0 ? pages * size : 1 << 36
    }()

    /// The maximum number of bytes in one tensor: several must fit in memory together.
    package static let valueByteCount = max(byteCount / 8, 512 << 20)

    /// Throws when extents are negative or a tensor with them would be larger than `valueByteCount`.
    ///
    /// - Parameters:
    ///   - extents: The extents of a tensor.
    ///   - bitWidth: The bits of one element.
    /// - Throws: `.invalidModel` when an extent is negative or the tensor is too large.
    package static func require(_ extents: [Int], bitWidth: Int) throws(ModelError) {
        var count = 1
        for extent in extents {
            let (product, overflow) = count.multipliedReportingOverflow(by: max(extent, 1))
            guard extent >= 0 else {
                throw ModelError(.invalidModel, "\(extents) is not a shape: extent \(extent) is negative")
            }
            guard !overflow, product / 8 <= valueByteCount / max(bitWidth, 1) else {
                throw ModelError(
                    .invalidModel,
                    "a tensor of shape \(extents) is larger than the \(valueByteCount >> 20) MiB one may take; check the shape"
                )
            }
            count = product
        }
    }

    /// Throws when `count` bytes are more than the machine's memory.
    package static func require(byteCount count: Int, for purpose: @autoclosure () -> String) throws(ModelError) {
        guard count > byteCount else { return }
        throw ModelError(
            .invalidModel,
            "\(purpose()) needs \(count >> 20) MiB, the machine has \(byteCount >> 20) MiB; use smaller inputs"
        )
    }
}
