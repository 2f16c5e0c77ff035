import CoreML
import Foundation
import Testing

/// Operations of each element against plain loops.
struct TensorElementTests {
    private static func tensor(_ plain: PlainTensor) -> MLTensor { MLTensor(shape: plain.shape, scalars: plain.floats) }

    private static func numbers(_ shape: [Int], seed: Int = 1) -> PlainTensor {
        var state = seed
        return PlainTensor(shape) { _ in
            state = (state * 1_103_515_245 + 12345) % 2_147_483_648
            return Double(Float(state % 4001 - 2000) / 500)
        }
    }

    private static let functions: [(String, @Sendable (MLTensor) -> MLTensor, @Sendable (Double) -> Double)] = [
        ("abs", { $0.abs() }, { Swift.abs($0) }), ("acos", { $0.acos() }, { Foundation.acos($0) }),
        ("acosh", { $0.acosh() }, { Foundation.acosh($0) }), ("asin", { $0.asin() }, { Foundation.asin($0) }),
        ("asinh", { $0.asinh() }, { Foundation.asinh($0) }), ("atan", { $0.atan() }, { Foundation.atan($0) }),
        ("atanh", { $0.atanh() }, { Foundation.atanh($0) }), ("ceil", { $0.ceil() }, { $0.rounded(.up) }),
        ("cos", { $0.cos() }, { Foundation.cos($0) }), ("cosh", { $0.cosh() }, { Foundation.cosh($0) }),
        ("exp", { $0.exp() }, { Foundation.exp($0) }), ("exp2", { $0.exp2() }, { Foundation.exp2($0) }),
        ("floor", { $0.floor() }, { $0.rounded(.down) }), ("log", { $0.log() }, { Foundation.log($0) }),
        ("reciprocal", { $0.reciprocal() }, { 1 / $0 }), ("round", { $0.round() }, { $0.rounded(.toNearestOrEven) }),
        ("rsqrt", { $0.rsqrt() }, { 1 / $0.squareRoot() }),
        ("sign", { $0.sign() }, { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 }), ("sin", { $0.sin() }, { Foundation.sin($0) }),
        ("sinh", { $0.sinh() }, { Foundation.sinh($0) }), ("squareRoot", { $0.squareRoot() }, { $0.squareRoot() }),
        ("squared", { $0.squared() }, { $0 * $0 }), ("tan", { $0.tan() }, { Foundation.tan($0) }),
        ("tanh", { $0.tanh() }, { Foundation.tanh($0) }), ("-", { -$0 }, { -$0 }),
        ("clamped", { $0.clamped(to: -1...0.5) }, { min(max($0, -1), 0.5) }),
        ("clamped from", { $0.clamped(to: (-1)...) }, { max($0, -1) }),
        ("clamped through", { $0.clamped(to: ...0.5) }, { min($0, 0.5) }),
    ]

    @Test func functionsOfNumbers() async {
        for shape in [[], [7], [2, 3, 5], [0, 4]] {
            let x = Self.numbers(shape)
            for (name, function, plain) in Self.functions {
                let result = function(Self.tensor(x))
                #expect(result.shape == shape && result.holds(Float.self), "\(name)")
                let expected = x.values.map { Float(plain($0)) }
                let values = await result.floats()
                #expect(values.count == expected.count)
                for (value, wanted) in zip(values, expected) {
                    let isNear = Swift.abs(value - wanted) <= 2e-5 * max(1, Swift.abs(wanted))
                    #expect(isNear || value == wanted || value.isNaN && wanted.isNaN, "\(name): \(value), \(wanted)")
                }
            }
        }
    }

    private static let pairs:
        [(String, @Sendable (MLTensor, MLTensor) -> MLTensor, @Sendable (Double, Double) -> Double)] = [
            ("+", { $0 + $1 }, { $0 + $1 }), ("-", { $0 - $1 }, { $0 - $1 }), ("*", { $0 * $1 }, { $0 * $1 }),
            ("/", { $0 / $1 }, { $0 / $1 }),
            ("%", { $0 % $1 }, { $0 - $1 * ($0 / $1).rounded(.down) }),
            ("pow", { $0.abs().pow($1) }, { Foundation.pow(Swift.abs($0), $1) }),
            ("min", { pointwiseMin($0, $1) }, { Swift.min($0, $1) }),
            ("max", { pointwiseMax($0, $1) }, { Swift.max($0, $1) }),
            (".==", { $0 .== $1 }, { $0 == $1 ? 1 : 0 }), (".!=", { $0 .!= $1 }, { $0 != $1 ? 1 : 0 }),
            (".<", { $0 .< $1 }, { $0 < $1 ? 1 : 0 }), (".<=", { $0 .<= $1 }, { $0 <= $1 ? 1 : 0 }),
            (".>", { $0 .> $1 }, { $0 > $1 ? 1 : 0 }), (".>=", { $0 .>= $1 }, { $0 >= $1 ? 1 : 0 }),
        ]

    @Test(arguments: [
        ([2, 3], [2, 3]), ([2, 3], [3]), ([2, 1, 4], [3, 1]), ([], [5]), ([2, 2], []), ([0, 3], [3]),
        ([0, 3], [1, 1]),
    ])
    func pairsAreBroadcast(shapes: ([Int], [Int])) async {
        let (x, y) = (Self.numbers(shapes.0, seed: 3), Self.numbers(shapes.1, seed: 4))
        for (name, function, plain) in Self.pairs {
            let result = function(Self.tensor(x), Self.tensor(y))
            let expected = PlainTensor.combine(x, y, plain)
            #expect(result.shape == expected.shape, "\(name)")
            let values = await result.floats()
            for (value, wanted) in zip(values, expected.floats) {
                let isNear = Swift.abs(value - wanted) <= 2e-4 * max(1, Swift.abs(wanted))
                #expect(isNear || value == wanted || value.isNaN && wanted.isNaN, "\(name): \(value), \(wanted)")
            }
            #expect(values.count == expected.values.count)
        }
    }

    @Test func numbersOnEitherSide() async {
        let x = MLTensor([1.0, -2.0, 4.0])
        let two = Float(2)
        #expect(await (x + two).floats() == [3, 0, 6])
        #expect(await (two - x).floats() == [1, 4, -2])
        #expect(await (x * 3).floats() == [3, -6, 12])
        #expect(await (two / x).floats() == [2, -1, 0.5])
        #expect(await (x % two).floats() == [1, 0, 0])
        #expect(await (5 % x).floats() == [0, -1, 1])
        #expect(await x.pow(2).floats() == [1, 4, 16])
        #expect(await (x .> 0).floats() == [1, 0, 1])
        #expect(await (x .== two).floats() == [0, 0, 0])
        #expect(await (x .!= -2).floats() == [1, 0, 1])
        var y = x
        y += 1
        y -= 2
        y *= x
        y /= 2
        y %= 4
        #expect(await y.floats() == [0, 3, 2])
        #expect(await x.floats() == [1, -2, 4])
    }

    @Test func logic() async {
        let (a, b) = (MLTensor([true, true, false, false]), MLTensor([true, false, true, false]))
        #expect(await (a .& b).floats() == [1, 0, 0, 0])
        #expect(await (a .| b).floats() == [1, 1, 1, 0])
        #expect(await (a .^ b).floats() == [0, 1, 1, 0])
        #expect(await (.!a).floats() == [0, 0, 1, 1])
        #expect(await (a .== b).floats() == [1, 0, 0, 1])
        #expect((a .& b).holds(Bool.self))
    }

    @Test func typesMeet() async {
        let (floats, halves) = (MLTensor([1.5, 2.5]), MLTensor([1.5, 2.5], scalarType: Float16.self))
        let (integers, bytes) = (MLTensor([1, 2]), MLTensor([1, 2], scalarType: UInt8.self))
        #expect((floats + halves).holds(Float.self) && (halves + integers).holds(Float16.self))
        #expect((integers + bytes).holds(Int32.self) && (bytes * bytes).holds(UInt8.self))
        #expect((integers * 2).holds(Int32.self) && (bytes + 1).holds(UInt8.self) && (halves * 2.5).holds(Float16.self))
        #expect((integers * 0.5).holds(Float.self))
        #expect(await (integers * 0.5).floats() == [0.5, 1])
        #expect((MLTensor([true]) * 100.0).holds(Float.self))
        #expect((halves * Float(3)).holds(Float16.self))
        #expect(await (halves * Float(3)).floats() == [4.5, 7.5])
    }

    @Test func everyScalarType() async {
        func check<Scalar: MLTensorScalar & FixedWidthInteger>(_ type: Scalar.Type) async {
            let x = MLTensor([0, 1, 2, 3, 100], scalarType: type)
            let y = MLTensor([5, 1, 7, 2, 100], scalarType: type)
            #expect(x.holds(type) && (x + y).holds(type))
            #expect(await (x * y).floats() == [0, 1, 14, 6, Float(Scalar(exactly: 10_000) ?? .max)])
            #expect(await (x - y).floats() == [-5, 0, -5, 1, 0].map { Scalar.isSigned ? $0 : Swift.max($0, 0) })
            #expect(await (y / x).floats() == [0, 1, 3, 0, 1])
            #expect(await (y % x).floats() == [0, 0, 1, 2, 0])
            #expect(await (x .< y).floats() == [1, 0, 1, 0, 0])
            #expect(await x.sum().floats() == [Float(Scalar(clamping: 106))])
            #expect(await x.max().floats() == [100])
            #expect(await x.argmax().floats() == [4])
            #expect(await x[1..<3].floats() == [1, 2])
            #expect(await x.reversed(alongAxes: 0).floats() == [100, 3, 2, 1, 0])
            #expect(await MLTensor(repeating: Scalar(7), shape: [2]).floats() == [7, 7])
            #expect(await MLTensor(ones: [2], scalarType: type).floats() == [1, 1])
            let random = MLTensor(randomUniform: [200], in: 3...5, seed: 1, scalarType: type)
            #expect(random.holds(type))
            #expect(Set(await random.floats()) == [3, 4, 5])
        }
        await check(Int8.self)
        await check(Int16.self)
        await check(Int32.self)
        await check(UInt8.self)
        await check(UInt16.self)
        await check(UInt32.self)
        let halves = MLTensor([0.1, 1, 2048], scalarType: Float16.self)
        #expect(await (halves + halves).shapedArray(of: Float16.self).scalars == [0.2, 2, 4096])
        #expect(await halves.squareRoot().shapedArray(of: Float16.self).scalars[2] == Float16(45.25))
    }

    @Test func casts() async {
        let x = MLTensor([-1.7, 0.0, 2.5, 300.0, -Float.infinity, Float.nan])
        #expect(await x.cast(to: Int32.self).shapedArray(of: Int32.self).scalars == [-1, 0, 2, 300, .min, 0])
        #expect(await x.cast(to: Int8.self).shapedArray(of: Int8.self).scalars == [-1, 0, 2, 127, -128, 0])
        #expect(await x.cast(to: UInt8.self).floats() == [0, 0, 2, 255, 0, 0])
        #expect(await x[0..<4].cast(to: Bool.self).floats() == [1, 0, 1, 1])
        #expect(x.cast(like: MLTensor([1])).holds(Int32.self))
    }
}
