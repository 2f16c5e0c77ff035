import CMLKernels
import Synchronization

/// The plain weights of a product or convolution, and the operations prepared with them, one for each shape.
final class OneDNNWeights<Shape: Hashable & Sendable>: Sendable {
    private let values: [Float]
    private let prepared = Mutex<[Shape: OneDNN.Operation]>([:])

    /// Weights of either storage type, widened; `nil` unless oneDNN is the backend and installed.
    init?(_ source: UnsafeRawPointer, storage: cml_storage, count: Int) {
        guard Backend.current == .onednn, OneDNN.version > 0 else { return nil }
        if storage == CML_F32 {
            values = Array(UnsafeBufferPointer(start: source.assumingMemoryBound(to: Float.self), count: count))
        } else {
            values = [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
                Conversion.run(source, .float16, to: buffer.baseAddress!, .float32, count: count)
                initialized = count
            }
        }
    }

    /// Computes with the operation for `shape`, preparing it if necessary, and applies the epilogue; false when oneDNN
    /// does not support it.
    func run(
        _ shape: Shape,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        rows: Int,
        columns: Int,
        yStride: Int,
        epilogue: cml_epilogue,
        prepare: (UnsafePointer<Float>) -> OneDNN.Operation?
    ) -> Bool {
        let operation = prepared.withLock { prepared -> OneDNN.Operation? in
            if let known = prepared[shape] { return known }
            let created = values.withUnsafeBufferPointer { prepare($0.baseAddress!) }
            prepared[shape] = created
            return created
        }
        guard let operation else { return false }
        let results = AlignedMemory(byteCount: max(1, rows * columns * 4))
        let plain = results.address.assumingMemoryBound(to: Float.self)
        guard operation.run(x, into: plain) else { return false }
        var epilogue = epilogue
        withExtendedLifetime(results) {
            cml_epilogue_apply(cml_isa_current(), &epilogue, plain, y, rows, columns, yStride)
        }
        return true
    }
}
