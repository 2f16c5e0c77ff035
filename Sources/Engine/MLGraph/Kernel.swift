package import MLNumerics

/// The memory layout of a value's elements.
package enum Layout: Hashable, Sendable {
    case rowMajor
    /// Axis 1 (the channels) comes last: N, spatial axes, C.  Ranks 3 to 5.
    case channelsLast

    /// For each physical axis its logical axis.
    package func permutation(rank: Int) -> [Int] {
        switch self {
        case .rowMajor: Array(0..<rank)
        case .channelsLast: [0] + Array(2..<rank) + [1]
        }
    }

    /// For each logical axis its physical axis.
    package func logicalOrder(rank: Int) -> [Int] { (0..<rank).map { physicalAxis($0, rank: rank) } }

    /// The physical axis of the logical `axis`.
    package func physicalAxis(_ axis: Int, rank: Int) -> Int {
        switch self {
        case .rowMajor: axis
        case .channelsLast: axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1
        }
    }

    /// A per-axis attribute in physical order.
    package func physical<T>(_ perAxis: [T]) -> [T] {
        self == .rowMajor ? perAxis : permutation(rank: perAxis.count).map { perAxis[$0] }
    }
}

/// A request for kernels: these operands, these results, in these layouts.
package struct KernelRequest: Sendable {
    /// An operand or result in memory.
    package struct Buffer: Sendable {
        package let scalarType: ScalarType
        /// The extents in the model's order.
        package let logicalShape: [Int]
        package let layout: Layout
        /// The contents, in logical row-major order, when they are known: weights to be packed.
        package let constant: Tensor?

        package init(scalarType: ScalarType, logicalShape: [Int], layout: Layout, constant: Tensor? = nil) {
            self.scalarType = scalarType
            self.logicalShape = logicalShape
            self.layout = layout
            self.constant = constant
        }

        /// The extents in memory order, outermost first.
        package var shape: [Int] { layout.physical(logicalShape) }
        package var count: Int { logicalShape.elementCount }
        package var byteCount: Int { scalarType.byteCount(of: count) }
    }

    package let operands: [Buffer?]
    package let results: [Buffer]

    package init(operands: [Buffer?], results: [Buffer]) {
        self.operands = operands
        self.results = results
    }

    package func operand(_ index: Int) -> Buffer? { index < operands.count ? operands[index] : nil }

    /// Whether every given operand and every result has this scalar type.
    package func isAll(_ type: ScalarType) -> Bool {
        operands.allSatisfy { $0 == nil || $0?.scalarType == type } && results.allSatisfy { $0.scalarType == type }
    }
}

/// An implementation of an operation on concrete buffers.
package struct Kernel: Sendable {
    /// Runs on the buffers of one prediction.
    ///
    /// It cannot fail, allocates no memory that grows with the data, and may be called from several threads at once.
    package typealias Body = @Sendable (KernelContext) -> Void
    /// A body whose indices or sizes are operands: it throws `.invalidInput`, before it writes anything outside its
    /// result, when they are out of range.
    package typealias CheckedBody = @Sendable (KernelContext) throws(ModelError) -> Void

    /// Names the implementation in plans and profiles: "gemm f16", "copy".
    package let name: String
    /// The size of the scratch buffer that a run needs, 64-byte aligned.
    package let scratchByteCount: Int
    /// Operands whose buffer the first result may reuse, when they are not needed afterwards.
    package let inPlaceOperands: [Int]
    /// Constant operands that `prepare` packs: the body never reads their buffers.
    package let packedOperands: [Int]
    /// Constant operands that the body reads in the compressed form of their file: it never reads their buffers.
    package let compressedOperands: [Int]
    /// When set, result 0 *is* this operand's memory from a byte offset on, and nothing runs.
    package let alias: (operand: Int, byteOffset: Int)?
    /// Packs weights and returns the body; `nil` when the kernel turns out not to apply.
    ///
    /// Called once per plan.
    package let prepare: @Sendable () -> Body?
    /// A checked body, instead of one that `prepare` returns.
    package let checked: CheckedBody?

    package init(
        _ name: String,
        scratchByteCount: Int = 0,
        inPlaceOperands: [Int] = [],
        packedOperands: [Int] = [],
        prepare: @escaping @Sendable () -> Body?
    ) {
        self.name = name
        self.packedOperands = packedOperands
        compressedOperands = []
        self.scratchByteCount = scratchByteCount
        self.inPlaceOperands = inPlaceOperands
        alias = nil
        checked = nil
        self.prepare = prepare
    }

    /// A kernel that may reject its operands at run time.
    package init(
        _ name: String,
        scratchByteCount: Int = 0,
        inPlaceOperands: [Int] = [],
        compressedOperands: [Int] = [],
        checked: @escaping CheckedBody
    ) {
        self.name = name
        packedOperands = []
        self.compressedOperands = compressedOperands
        self.scratchByteCount = scratchByteCount
        self.inPlaceOperands = inPlaceOperands
        alias = nil
        self.checked = checked
        prepare = { nil }
    }

    /// A kernel that needs no preparation.
    package init(
        _ name: String,
        scratchByteCount: Int = 0,
        inPlaceOperands: [Int] = [],
        body: @escaping Body
    ) {
        self.init(name, scratchByteCount: scratchByteCount, inPlaceOperands: inPlaceOperands, prepare: { body })
    }

    /// Result 0 shares the memory of an operand.
    package init(aliasing operand: Int, byteOffset: Int = 0) {
        name = "view"
        packedOperands = []
        compressedOperands = []
        scratchByteCount = 0
        inPlaceOperands = []
        alias = (operand, byteOffset)
        checked = nil
        prepare = { { _ in } }
    }
}

/// The buffers of one step in one prediction.
package struct KernelContext {
    private let pointers: UnsafePointer<UnsafeMutableRawPointer?>
    private let slots: UnsafePointer<Int32>
    private let operandCount: Int
    /// The scratch buffer: at least `scratchByteCount` bytes, 64-byte aligned; contents arbitrary.
    package let scratch: UnsafeMutableRawPointer

    package init(
        pointers: UnsafePointer<UnsafeMutableRawPointer?>,
        slots: UnsafePointer<Int32>,
        operandCount: Int,
        scratch: UnsafeMutableRawPointer
    ) {
        self.pointers = pointers
        self.slots = slots
        self.operandCount = operandCount
        self.scratch = scratch
    }

    /// The first byte of operand `index`, which must be present.
    package func operand(_ index: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(pointers[Int(slots[index])].unsafelyUnwrapped)
    }

    package func floats(_ index: Int) -> UnsafePointer<Float> { operand(index).assumingMemoryBound(to: Float.self) }

    /// The first byte of an operand that may be absent.
    package func optionalOperand(_ index: Int) -> UnsafeRawPointer? {
        guard index < operandCount, slots[index] >= 0 else { return nil }
        return operand(index)
    }

    /// The elements of a float32 operand that may be absent.
    package func optionalFloats(_ index: Int) -> UnsafePointer<Float>? {
        optionalOperand(index)?.assumingMemoryBound(to: Float.self)
    }

    /// The elements of an int32 operand.
    package func integers(_ index: Int) -> UnsafePointer<Int32> { operand(index).assumingMemoryBound(to: Int32.self) }

    /// The elements of a bool or uint8 operand.
    package func bytes(_ index: Int) -> UnsafePointer<UInt8> { operand(index).assumingMemoryBound(to: UInt8.self) }

    /// The bit patterns of a float16 operand.
    package func halves(_ index: Int) -> UnsafePointer<UInt16> { operand(index).assumingMemoryBound(to: UInt16.self) }

    /// The scratch buffer as float32.
    package var scratchFloats: UnsafeMutablePointer<Float> { scratch.assumingMemoryBound(to: Float.self) }

    package func result(_ index: Int = 0) -> UnsafeMutableRawPointer {
        pointers[Int(slots[operandCount + index])].unsafelyUnwrapped
    }

    /// Whether the first result is in the memory of operand `index`.
    package func isInPlace(_ index: Int) -> Bool { operand(index) == UnsafeRawPointer(result()) }

    package func resultFloats(_ index: Int = 0) -> UnsafeMutablePointer<Float> {
        result(index).assumingMemoryBound(to: Float.self)
    }

    package func resultIntegers(_ index: Int = 0) -> UnsafeMutablePointer<Int32> {
        result(index).assumingMemoryBound(to: Int32.self)
    }
}
