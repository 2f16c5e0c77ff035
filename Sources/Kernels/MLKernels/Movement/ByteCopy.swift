import CMLKernels

/// Plain copies of large blocks by all workers.
package enum ByteCopy {
    /// Copies `byteCount` bytes unless both addresses are the same; otherwise the blocks must not overlap.
    package static func run(_ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, byteCount: Int) {
        guard source != UnsafeRawPointer(target), byteCount > 0 else { return }
        let chunk = 256 << 10
        guard byteCount > chunk else { return target.copyMemory(from: source, byteCount: byteCount) }
        Workers.parallelFor((byteCount + chunk - 1) / chunk) { part, _ in
            let start = part * chunk
            (target + start).copyMemory(from: source + start, byteCount: min(chunk, byteCount - start))
        }
    }
}
