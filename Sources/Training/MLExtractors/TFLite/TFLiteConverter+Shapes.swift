import MLNumerics
import MLSpecification

extension TFLiteConverter {
    mutating func concatenate(_ operation: TFLiteFile.Operator) throws(ModelError) {
        var axis: Int32 = 0
        var function: Int8 = 0
        if let options = operation.options {
            axis = try file.buffer.number(options, 0, default: 0)
            function = try file.buffer.number(options, 1, default: 0)
        }
        let rank = file.tensors[try output(operation)].shape.count
        var params = SpecConcatNDLayerParams()
        params.axis = Int64(try ownAxis(Int(axis), rank: rank))
        var names: [String] = []
        for index in operation.inputs.indices {
            let value = try self.value(input(operation, index))
            guard value.shape.count == rank else {
                throw file.buffer.damaged("the operator \(position) joins arrays of different ranks")
            }
            names.append(value.name)
        }
        let name = self.name("concat")
        network.add(names, name, .concatNd(params))
        try set(output(operation), activated(name, function))
    }

    mutating func spreadDepth(_ operation: TFLiteFile.Operator) throws(ModelError) {
        guard let options = operation.options, case let size = try file.buffer.number(options, 0, default: Int32(0)),
            size > 0
        else { throw file.buffer.damaged("the operator \(position) states no size of its blocks") }
        var params = SpecReorganizeDataLayerParams()
        params.mode = .depthToSpace
        params.blockSize = UInt64(size)
        let name = self.name("depth_to_space")
        network.add([try image(input(operation, 0)).name], name, .reorganizeData(params))
        try set(output(operation), name)
    }

    mutating func reshape(_ operation: TFLiteFile.Operator) throws(ModelError) {
        let source = try value(input(operation, 0))
        let result = file.tensors[try output(operation)].shape
        guard source.shape.reduce(1, *) == result.reduce(1, *) else {
            throw file.buffer.damaged("the operator \(position) turns the shape \(source.shape) into \(result)")
        }
        let name = self.name("reshape")
        var current = source.name
        // The order of the values in memory matters only where there is more than one pixel.
        if source.shape.count == 4, source.shape[1] * source.shape[2] > 1 {
            transpose(current, name + ".rows", [0, 2, 3, 1])
            current = name + ".rows"
        }
        if result.count == 4, result[1] * result[2] > 1 {
            network.reshape(current, name + ".picture", result)
            transpose(name + ".picture", name, [0, 3, 1, 2])
        } else {
            network.reshape(current, name, result.count == 4 ? [result[0], result[3], 1, 1] : result)
        }
        try set(output(operation), name)
    }

    mutating func resize(_ operation: TFLiteFile.Operator) throws(ModelError) {
        let source = try image(input(operation, 0))
        let result = file.tensors[try output(operation)].shape
        guard result.count == 4, result[1] % source.shape[1] == 0, result[2] % source.shape[2] == 0 else {
            throw unsupported("RESIZE_BILINEAR from the shape \(source.shape) to \(result), not by whole factors")
        }
        var corners = (isAligned: UInt8(0), isCentred: UInt8(0))
        if let options = operation.options {
            corners = (
                try file.buffer.number(options, 2, default: 0), try file.buffer.number(options, 3, default: 0)
            )
        }
        var params = SpecUpsampleLayerParams()
        params.scalingFactor = [UInt64(result[1] / source.shape[1]), UInt64(result[2] / source.shape[2])]
        params.mode = .bilinear
        params.linearUpsampleMode =
            corners.isAligned != 0 ? .alignCornersTrue : corners.isCentred != 0 ? .alignCornersFalse : .default
        let name = self.name("resize")
        network.add([source.name], name, .upsample(params))
        try set(output(operation), name)
    }

    mutating func pad(_ operation: TFLiteFile.Operator) throws(ModelError) {
        let (source, target) = (try image(input(operation, 0)), try output(operation))
        let amounts = try file.integers(input(operation, 1))
        guard amounts.count == 8, amounts.allSatisfy({ (0..<1 << 16).contains($0) }) else {
            throw file.buffer.damaged("the operator \(position) pads by \(amounts)")
        }
        // A convolution without padding of its own adds the rows and columns itself.
        let next = file.operators.first { $0.inputs.contains(target) }
        if let next, [3, 4].contains(next.code), readers[target] == 1, amounts[0...1] == [0, 0],
            amounts[6...7] == [0, 0],
            let options = next.options, try file.buffer.number(options, 0, default: Int8(0)) == 1
        {
            padded[target] = (source, Array(amounts[2..<6]))
            return
        }
        var params = SpecConstantPaddingLayerParams()
        params.padAmounts = [0, 3, 1, 2].flatMap { [UInt64(amounts[2 * $0]), UInt64(amounts[2 * $0 + 1])] }
        let name = self.name("pad")
        network.add([source.name], name, .constantPad(params))
        try set(target, name)
    }

    mutating func average(_ operation: TFLiteFile.Operator) throws(ModelError) {
        let source = try image(input(operation, 0))
        let axes = try file.integers(input(operation, 1)).map { $0 < 0 ? $0 + 4 : $0 }
        guard axes.sorted() == [1, 2] else { throw unsupported("MEAN over the axes \(axes)") }
        let name = self.name("mean")
        let isKept = try operation.options.map { (options) throws(ModelError) in
            try file.buffer.number(options, 0, default: UInt8(0)) != 0
        }
        if isKept ?? false {
            network.globalMean(source.name, name)
        } else {
            network.globalMean(source.name, name + ".picture")
            network.reshape(name + ".picture", name, [1, source.shape[3]])
        }
        try set(output(operation), name)
    }
}
