import MLEngine
import MLNumerics

/// Collects the values of an output, row by row, for NumPy arrays.
struct GatheredColumn {
    /// The common form of all rows' values.
    private enum Form: Equatable {
        case doubles, integers, strings, scores, numberedScores, textSequences, numberSequences
        case elements(ScalarType, shape: [Int])
        case texts(shape: [Int])
    }

    /// Dictionaries: the keys so far, and the values of each row in that order.
    private struct Scores<Key: Hashable & Comparable> {
        private var locations: [Key: Int] = [:]
        private var rows: [[Double]] = []

        mutating func append(_ values: [Key: Double]) {
            for key in values.keys.sorted() where locations[key] == nil { locations[key] = locations.count }
            var row = [Double](repeating: .nan, count: locations.count)
            for (key, value) in values { if let location = locations[key] { row[location] = value } }
            rows.append(row)
        }

        /// The keys in their order, and the values of all rows.
        func table() -> (keys: [Key], values: [Double]) {
            let keys = locations.keys.sorted()
            let order = keys.compactMap { locations[$0] }
            return (keys, rows.flatMap { row in order.map { $0 < row.count ? row[$0] : .nan } })
        }
    }

    /// The kind of the values, for messages.
    let kind: String
    private(set) var count = 0
    private let form: Form
    private var doubles: [Double] = []
    private var integers: [Int64] = []
    private var strings: [String] = []
    private var bytes: [UInt8] = []
    private var lengths: [Int64] = []
    private var scores = Scores<String>()
    private var numberedScores = Scores<Int64>()

    /// An empty column for values like this one.
    init(_ value: FeatureData) {
        kind = value.kind
        form = Self.form(value)
    }

    private static func form(_ value: FeatureData) -> Form {
        switch value {
        case .double: .doubles
        case .int64: .integers
        case .string: .strings
        case .tensor(let tensor) where tensor.scalarType == .string: .texts(shape: tensor.shape)
        case .tensor(let tensor): .elements(tensor.arrayType, shape: tensor.shape)
        case .image(let image): .elements(image.arrayType, shape: image.arrayShape)
        case .dictionary(.strings): .scores
        case .dictionary(.integers): .numberedScores
        case .sequence(.strings): .textSequences
        case .sequence(.integers): .numberSequences
        }
    }

    /// - Returns: False, without any change, for a value of another kind or shape.
    mutating func append(_ value: FeatureData) -> Bool {
        guard Self.form(value) == form else { return false }
        switch value {
        case .double(let number): doubles.append(number)
        case .int64(let number): integers.append(number)
        case .string(let text): strings.append(text)
        case .tensor(let tensor) where tensor.scalarType == .string: strings += tensor.strings
        case .tensor(let tensor): append(tensor.converted(to: tensor.arrayType))
        case .image(let image): append(image.pixels)
        case .dictionary(.strings(let values)): scores.append(values)
        case .dictionary(.integers(let values)): numberedScores.append(values)
        case .sequence(.strings(let values)):
            strings += values
            lengths.append(Int64(values.count))
        case .sequence(.integers(let values)):
            integers += values
            lengths.append(Int64(values.count))
        }
        count += 1
        return true
    }

    private mutating func append(_ tensor: Tensor) {
        tensor.withBytes { bytes += $0 }
    }

    /// The arrays by the suffix of their names after the output's.
    ///
    /// - Parameter isList: Whether rows are the first axis; otherwise there is a single row.
    /// - Returns: The arrays; the suffix of the values is empty.
    func arrays(isList: Bool) -> [String: Tensor] {
        let rows = isList ? [count] : []
        func lengthened(_ tensor: Tensor) -> [String: Tensor] {
            isList
                ? ["": tensor, ".lengths": Tensor(elements: lengths, scalarType: .int64, shape: rows)]
                : ["": tensor]
        }
        switch form {
        case .doubles: return ["": Tensor(elements: doubles, scalarType: .float64, shape: rows)]
        case .integers: return ["": Tensor(elements: integers, scalarType: .int64, shape: rows)]
        case .strings: return ["": Tensor(strings: strings, shape: rows)]
        case .texts(let shape): return ["": Tensor(strings: strings, shape: rows + shape)]
        case .elements(let type, let shape):
            return ["": Tensor(copying: bytes, scalarType: type, shape: rows + shape)]
        case .scores:
            let (keys, values) = scores.table()
            return [
                "": Tensor(elements: values, scalarType: .float64, shape: rows + [keys.count]),
                ".labels": Tensor(strings: keys, shape: [keys.count]),
            ]
        case .numberedScores:
            let (keys, values) = numberedScores.table()
            return [
                "": Tensor(elements: values, scalarType: .float64, shape: rows + [keys.count]),
                ".labels": Tensor(elements: keys, scalarType: .int64, shape: [keys.count]),
            ]
        case .textSequences: return lengthened(Tensor(strings: strings, shape: [strings.count]))
        case .numberSequences:
            return lengthened(Tensor(elements: integers, scalarType: .int64, shape: [integers.count]))
        }
    }
}

extension Tensor {
    /// The type of the array with the elements: NumPy has none of fewer than 8 bits.
    fileprivate var arrayType: ScalarType {
        switch scalarType {
        case .int4: .int8
        case .uint1, .uint2, .uint3, .uint4, .uint6: .uint8
        default: scalarType
        }
    }
}

extension ImageBuffer {
    fileprivate var arrayType: ScalarType { format == .gray16Float ? .float16 : .uint8 }

    fileprivate var arrayShape: [Int] {
        switch format {
        case .gray8, .gray16Float: [height, width]
        case .rgb8: [height, width, 3]
        case .bgra8, .rgba8, .argb8: [height, width, 4]
        }
    }

    /// Grey, or red, green, blue and alpha.
    fileprivate var pixels: Tensor {
        let width = self.width * format.bytesPerPixel
        let result = Tensor(uninitialized: arrayType, shape: arrayShape)
        let order: [Int]? =
            switch format {
            case .bgra8: [2, 1, 0, 3]
            case .argb8: [1, 2, 3, 0]
            case .rgba8, .rgb8, .gray8, .gray16Float: nil
            }
        for row in 0..<height {
            let (source, target) = (address + row * bytesPerRow, result.address + row * width)
            guard let order else {
                target.copyMemory(from: source, byteCount: width)
                continue
            }
            for pixel in stride(from: 0, to: width, by: 4) {
                for (component, location) in order.enumerated() {
                    target.storeBytes(
                        of: source.load(fromByteOffset: pixel + location, as: UInt8.self),
                        toByteOffset: pixel + component,
                        as: UInt8.self
                    )
                }
            }
        }
        return result
    }
}
