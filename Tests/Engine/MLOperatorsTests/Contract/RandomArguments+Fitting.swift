import MLNumerics
import TestSupport

/// Whole sets of arguments for operations whose operands must fit one another in many ways, so that chance alone seldom
/// makes a legal case.
extension RandomArguments {
    /// The operations that have such sets.
    static let fitted: Set<String> = ["conv_transpose", "crop_resize", "gru", "lstm", "rnn", "resample", "affine"]

    /// Legal arguments by name; none for other operations.
    mutating func fitting(_ signature: OperationSignature) -> [String: Tensor] {
        let result: [String: Tensor] =
            switch signature.operation {
            case "conv_transpose": transposedConvolution(signature)
            case "crop_resize": crops(signature)
            case "gru", "lstm", "rnn": recurrence(signature)
            case "resample", "affine": sampling(signature)
            default: [:]
            }
        return result.filter { name, _ in signature.arguments.contains { $0.name == name } }
    }

    /// A floating-point type that argument `name` takes.
    private mutating func real(_ name: String, _ signature: OperationSignature) -> ScalarType {
        let types = signature.arguments.first { $0.name == name }?.types ?? []
        return types.contains("fp16") && chance(0.3) ? .float16 : .float32
    }

    private mutating func extents(_ count: Int, _ range: ClosedRange<Int>) -> [Int] {
        (0..<count).map { _ in integer(range) }
    }

    /// Height and width, now and then none.
    private mutating func image() -> [Int] { (0..<2).map { _ in chance(0.03) ? 0 : integer(1...6) } }

    /// Coordinates, now and then far away or none.
    private mutating func coordinates(
        _ shape: [Int],
        _ type: ScalarType,
        in range: ClosedRange<Double>
    ) -> Tensor {
        let values = random.tensor(shape, type, in: range).values.map { value in
            chance(0.02) ? [3e38, -3e38, .nan, .infinity, 1e9, -7e15][integer(0...5)] : value
        }
        return Tensor(values: values, scalarType: type, shape: shape)
    }

    private func integers(_ values: [Int]) -> Tensor { Tensor(values.map { Int32($0) }, shape: [values.count]) }
    private func number(_ value: Int) -> Tensor { Tensor([Int32(value)], shape: []) }
    private func word(_ value: String) -> Tensor { Tensor(strings: [value], shape: []) }
    private mutating func word(among words: [String]) -> Tensor { word(words[integer(0...words.count - 1)]) }
    private mutating func truth() -> Tensor { random.tensor([], .bool) }

    private mutating func transposedConvolution(_ signature: OperationSignature) -> [String: Tensor] {
        let type = real("x", signature)
        let rank = integer(1...3)
        let groups = integer(1...2)
        let (inputs, outputs) = (groups * integer(1...3), integer(1...3))
        var result: [String: Tensor] = [
            "x": random.tensor([integer(1...2), inputs] + extents(rank, 1...5), type),
            "weight": random.tensor([inputs, outputs] + extents(rank, 1...3), type),
            "strides": integers(extents(rank, 1...3)), "dilations": integers(extents(rank, 1...2)),
            "groups": number(groups),
        ]
        if chance(0.5) { result["bias"] = random.tensor([outputs * groups], type) }
        switch integer(0...3) {
        case 0:
            result["pad_type"] = word("custom")
            result["pad"] = integers(extents(2 * rank, 0...1))
        case 1: result["pad_type"] = word("same")
        default: result["pad_type"] = word("valid")
        }
        return result
    }

    private mutating func crops(_ signature: OperationSignature) -> [String: Tensor] {
        let type = real("x", signature)
        let (images, boxes) = (integer(1...3), integer(1...4))
        let isNormalized = chance(0.5)
        let range = isNormalized ? -0.2...1.2 : -1.0...7
        let indices = (0..<boxes).map { _ in integer(0...images - 1) }
        var result: [String: Tensor] = [
            "x": random.tensor([images, integer(1...3)] + image(), type),
            "target_height": number(integer(1...4)), "target_width": number(integer(1...4)),
            "normalized_coordinates": Tensor(values: [isNormalized ? 1 : 0], scalarType: .bool, shape: []),
            "spatial_scale": random.tensor([], .float32, in: 0.5...1),
            "box_coordinate_mode": word(among: [
                "CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST", "CENTER_SIZE_WIDTH_FIRST",
            ]),
            "sampling_mode": word(among: [
                "ALIGN_CORNERS", "STRICT_ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS", "UNALIGN_CORNERS",
            ]),
            "pad_value": random.tensor([], type),
            "boxes": coordinates([boxes, 4], type, in: range),
        ]
        if chance(0.7) { result["box_indices"] = integers(indices) }
        // Regions name their image first.
        let isNamed = chance(0.5)
        var regions: [Double] = []
        for box in 0..<boxes {
            if isNamed { regions.append(Double(indices[box])) }
            regions += coordinates([4], .float32, in: range).values
        }
        result["roi"] = Tensor(values: regions, scalarType: type, shape: [boxes, 1, isNamed ? 5 : 4, 1, 1])
        return result
    }

    private mutating func recurrence(_ signature: OperationSignature) -> [String: Tensor] {
        let type = real("x", signature)
        let (steps, batch, inputs, states) = (integer(1...4), integer(1...3), integer(1...5), integer(1...6))
        let kind = signature.operation
        let gates = kind == "lstm" ? 4 : kind == "gru" ? 3 : 1
        let direction = ["forward", "reverse", "bidirectional"][integer(0...(kind == "lstm" ? 2 : 1))]
        let width = direction == "bidirectional" ? 2 * states : states
        var result: [String: Tensor] = [
            "x": random.tensor([steps, batch, inputs], type), "initial_h": random.tensor([batch, width], type),
            "initial_c": random.tensor([batch, width], type), "direction": word(direction), "output_sequence": truth(),
            "reset_after": truth(),
        ]
        for suffix in ["", "_back"] {
            result["weight_ih" + suffix] = random.tensor([gates * states, inputs], type)
            result["weight_hh" + suffix] = random.tensor([gates * states, states], type)
            if chance(0.7) { result["bias" + suffix] = random.tensor([gates * states], type) }
            if chance(0.3) { result["peephole" + suffix] = random.tensor([3 * states], type) }
        }
        if chance(0.5) { result["input_bias"] = random.tensor([gates * states], type) }
        if chance(0.5) { result["clip"] = random.tensor([], type, in: 0.2...2) }
        for name in ["recurrent_activation", "cell_activation", "activation"] where chance(0.5) {
            result[name] = word(among: ["tanh", "sigmoid", "relu", "sigmoid_hard", "linear"])
        }
        return result
    }

    private mutating func sampling(_ signature: OperationSignature) -> [String: Tensor] {
        let type = real("x", signature)
        let images = integer(1...2)
        let units =
            signature.operation == "affine"
            ? 1 : integer(0...2)
        let range = [-2.0...8, -1.5...1.5, -0.3...1.3][units]
        return [
            "x": random.tensor([images, integer(1...3)] + image(), type),
            "coordinates": coordinates(
                [images, integer(1...4), integer(1...4), 2],
                real("coordinates", signature),
                in: range
            ),
            "transform_matrix": random.tensor([images, 6], type), "output_height": number(integer(1...5)),
            "output_width": number(integer(1...5)), "sampling_mode": word(among: ["bilinear", "nearest"]),
            "padding_mode": word(among: ["constant", "border", "reflection", "symmetric"]),
            "padding_value": random.tensor([], type),
            "coordinates_mode": word(
                ["unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"][units]
            ),
            "align_corners": truth(),
        ]
    }
}
