/// A number that arrays hold; `Double` represents each one exactly.
protocol ArrayElement: BitwiseCopyable {
    var wide: Double { get }
    /// Converts a number: floats round to nearest even; integers truncate toward zero and saturate, and NaN becomes 0.
    static func narrow(_ value: Double) -> Self
}

extension Float16: ArrayElement {
    var wide: Double { Double(self) }
    static func narrow(_ value: Double) -> Float16 { Float16(value) }
}

extension Float: ArrayElement {
    var wide: Double { Double(self) }
    static func narrow(_ value: Double) -> Float { Float(value) }
}

extension Double: ArrayElement {
    var wide: Double { self }
    static func narrow(_ value: Double) -> Double { value }
}

extension Int8: ArrayElement {
    var wide: Double { Double(self) }
    static func narrow(_ value: Double) -> Int8 { value.isNaN ? 0 : Int8(Swift.max(-128, Swift.min(127, value))) }
}

extension Int32: ArrayElement {
    var wide: Double { Double(self) }
    static func narrow(_ value: Double) -> Int32 {
        value.isNaN ? 0 : Int32(Swift.max(-2_147_483_648, Swift.min(2_147_483_647, value)))
    }
}

/// Elements in memory: the address of the first one and the distance, in elements, to the next one along each axis.
struct StridedElements {
    var address: UnsafeMutableRawPointer
    var dataType: MLMultiArrayDataType
    var strides: [Int]

    /// Writes the elements of `source` over these, converted; both have the given shape.
    func copy(_ source: StridedElements, shape: [Int]) {
        guard !shape.contains(0) else { return }
        // Axes that both sides step through without gaps become one.
        var extents: [Int] = []
        var from: [Int] = []
        var to: [Int] = []
        for axis in shape.indices.reversed() where shape[axis] != 1 {
            if let extent = extents.last, let stepFrom = from.last, let stepTo = to.last,
                source.strides[axis] == stepFrom * extent, strides[axis] == stepTo * extent
            {
                extents[extents.count - 1] = extent * shape[axis]
            } else {
                extents.append(shape[axis])
                from.append(source.strides[axis])
                to.append(strides[axis])
            }
        }
        if extents.isEmpty { (extents, from, to) = ([1], [1], [1]) }
        copyAxis(extents.count - 1, source, extents, from, to, 0, 0)
    }

    private func copyAxis(
        _ axis: Int,
        _ source: StridedElements,
        _ extents: [Int],
        _ from: [Int],
        _ to: [Int],
        _ fromOffset: Int,
        _ toOffset: Int
    ) {
        if axis == 0 {
            copyRun(source, fromOffset, from[0], toOffset, to[0], extents[0])
        } else {
            for index in 0..<extents[axis] {
                copyAxis(
                    axis - 1,
                    source,
                    extents,
                    from,
                    to,
                    fromOffset + index * from[axis],
                    toOffset + index * to[axis]
                )
            }
        }
    }

    private func copyRun(
        _ source: StridedElements,
        _ fromOffset: Int,
        _ fromStep: Int,
        _ toOffset: Int,
        _ toStep: Int,
        _ count: Int
    ) {
        if dataType == source.dataType, fromStep == 1, toStep == 1 {
            let size = dataType.byteCount
            (address + toOffset * size).copyMemory(
                from: source.address + fromOffset * size,
                byteCount: count * size
            )
            return
        }
        func convert<S: ArrayElement, T: ArrayElement>(_: S.Type, _: T.Type) {
            let from = source.address.assumingMemoryBound(to: S.self) + fromOffset
            let to = address.assumingMemoryBound(to: T.self) + toOffset
            for index in 0..<count { to[index * toStep] = T.narrow(from[index * fromStep].wide) }
        }
        func convert<S: ArrayElement>(from type: S.Type) {
            switch dataType {
            case .float16: convert(type, Float16.self)
            case .float32: convert(type, Float.self)
            case .double: convert(type, Double.self)
            case .int8: convert(type, Int8.self)
            case .int32: convert(type, Int32.self)
            }
        }
        switch source.dataType {
        case .float16: convert(from: Float16.self)
        case .float32: convert(from: Float.self)
        case .double: convert(from: Double.self)
        case .int8: convert(from: Int8.self)
        case .int32: convert(from: Int32.self)
        }
    }
}

/// Row-major strides of a shape, in elements; those of a shape that is too large wrap around.
@usableFromInline
func contiguousStrides(of shape: [Int]) -> [Int] {
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in stride(from: shape.count - 2, through: 0, by: -1) {
        strides[axis] = strides[axis + 1] &* Swift.max(shape[axis + 1], 1)
    }
    return strides
}

/// The number of elements of a shape; `nil` when an extent is negative or the product overflows.
func checkedCount(of shape: [Int]) -> Int? {
    var product = 1
    for extent in shape {
        guard extent >= 0 else { return nil }
        let (value, overflow) = product.multipliedReportingOverflow(by: extent)
        if overflow || value > 1 << 46 { return nil }
        product = value
    }
    return product
}

/// The number of elements from the first to the last one of a strided array, gaps included; `nil` when the shape is not
/// valid, there is not one stride of 0 or more for each axis, or the number overflows.
func checkedSpan(shape: [Int], strides: [Int]) -> Int? {
    guard checkedCount(of: shape) != nil, shape.count == strides.count, strides.allSatisfy({ $0 >= 0 }) else {
        return nil
    }
    if shape.contains(0) { return 0 }
    var span = 1
    for (extent, stride) in zip(shape, strides) {
        let (reach, overflow) = (extent - 1).multipliedReportingOverflow(by: stride)
        let (sum, carry) = span.addingReportingOverflow(reach)
        if overflow || carry || sum > 1 << 46 { return nil }
        span = sum
    }
    return span
}

/// `checkedSpan` for interfaces that cannot throw: a shape or strides that are not valid end the program with a message.
func validSpan(shape: [Int], strides: [Int]) -> Int {
    guard let span = checkedSpan(shape: shape, strides: strides) else {
        fatalError(
            "strides \(strides) do not fit shape \(shape): extents are 0 or more, each axis has one stride of 0 or more, "
                + "and the elements fit in memory"
        )
    }
    return span
}

/// The number of elements from the first to the last one of a strided array, gaps included; shape and strides must be
/// valid.
@usableFromInline
func spanCount(shape: [Int], strides: [Int]) -> Int {
    if shape.contains(0) { return 0 }
    return 1 + zip(shape, strides).reduce(0) { $0 + ($1.0 - 1) * $1.1 }
}
