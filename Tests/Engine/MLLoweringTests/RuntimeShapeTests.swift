import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Shapes and parameters that are known only while running.
@Suite struct RuntimeShapeTests {
    /// The lengths of shapes are flexible: the rank of the result follows from each prediction.
    @Test(arguments: [[2], [2, 3], [1, 2, 2]]) func fillsShapesOfAnyLength(shape: [Int]) throws {
        var network = Network()
        network.input("x0", [2]) { feature in
            feature.type.multiArrayType.shapeRange.sizeRanges = [sizes(1, 5)]
        }
        network.add("fill", ["x0"], ["y0"]) { $0.fillDynamic.value = 7 }
        network.output("y0")
        let y = try network(floats(shape.map { Float($0) }, [shape.count]))
        #expect(y.shape == shape)
        #expect(y.values.allSatisfy { $0 == 7 })
    }

    @Test(arguments: [[6], [3, 2], [1, 2, 3]]) func reshapesToAnyRank(shape: [Int]) throws {
        var network = Network()
        network.input("x0", [2, 3])
        network.input("x1", [2]) { feature in
            feature.type.multiArrayType.shapeRange.sizeRanges = [sizes(1, -1)]
        }
        network.add("reshape", ["x0", "x1"], ["y0"]) { $0.reshapeDynamic = .init() }
        network.output("y0")
        let y = try network(ramp([2, 3]), floats(shape.map { Float($0) }, [shape.count]))
        #expect(y.shape == shape)
        #expect(y.values == [0, 1, 2, 3, 4, 5])
    }

    /// A scalar that a slice leaves is one after elementwise layers too: adding an axis gives one axis.
    @Test func scalarsStayScalars() throws {
        var network = Network()
        network.input("x0", [3])
        network.add("slice", ["x0"], ["a"]) { layer in
            layer.sliceStatic.beginIds = [1]
            layer.sliceStatic.endIds = [2]
            layer.sliceStatic.beginMasks = [false]
            layer.sliceStatic.endMasks = [false]
            layer.sliceStatic.strides = [1]
            layer.sliceStatic.squeezeMasks = [true]
        }
        network.add("double", ["a"], ["b"]) { $0.activation.linear.alpha = 2 }
        network.add("sum", ["a", "b"], ["c"]) { $0.addBroadcastable = .init() }
        network.add("expand", ["c"], ["y0"]) { $0.expandDims.axes = [0] }
        network.output("y0")
        let y = try network(floats([1, 5, 2], [3]))
        #expect(y.shape == [1])
        #expect(y.values == [15])
    }

    /// A recurrent layer whose batch is known only while running, with states in either of the forms that files give them.
    @Test(arguments: [[-1, 2, 1, 1, 1], [1, -1, 2, 1, 1]]) func batchesOfStates(form: [Int]) throws {
        var network = Network()
        network.input("x0", [1, 3, 1]) { feature in
            feature.type.multiArrayType.shapeRange.sizeRanges = [sizes(1, 1), sizes(1, 5), sizes(1, 1)]
        }
        network.input("x1", form.map { $0 < 0 ? 3 : $0 }) { feature in
            feature.type.multiArrayType.shapeRange.sizeRanges = form.map { extent in
                extent < 0 ? sizes(1, 5) : sizes(UInt64(extent), Int64(extent))
            }
        }
        network.add("recurrent", ["x0", "x1"], ["y0"]) { layer in
            layer.simpleRecurrent.inputVectorSize = 1
            layer.simpleRecurrent.outputVectorSize = 2
            layer.simpleRecurrent.activation.linear.alpha = 1
            layer.simpleRecurrent.weightMatrix.floatValue = [1, 2]
            layer.simpleRecurrent.recursionMatrix.floatValue = [10, 0, 0, 10]
        }
        network.output("y0")
        for batch in [1, 3, 4] {
            let y = try network(ramp([1, batch, 1]), ramp(form.map { $0 < 0 ? batch : $0 }, 0.5))
            var expected: [Double] = []
            for item in 0..<batch {
                let x = Double(item)
                expected += [x + 10 * x, 2 * x + 5 * (2 * x + 1)]
            }
            #expect(isClose(y.values, expected), "\(y)")
        }
    }

    /// Inputs behind boxes and scores take the place of the thresholds and the number of boxes.
    @Test(arguments: [(Float(0.1), Float(0), [0.0, 2]), (0.9, 0, [0, 1]), (0.9, 0.85, [0, -1])])
    func suppressesByInputs(overlap: Float, score: Float, places: [Double]) throws {
        let network = Network([[1, 3, 4], [1, 3, 1], [1], [1], [1]], outputs: 4) { layer in
            layer.nonMaximumSuppression.maxBoxes = 7
        }
        let results = try network([
            "x0": floats([1, 1, 2, 2, 1.2, 1, 2, 2, 9, 9, 1, 1], [1, 3, 4]), "x1": floats([0.9, 0.8, 0.7], [1, 3, 1]),
            "x2": floats([overlap], [1]), "x3": floats([score], [1]), "x4": floats([2], [1]),
        ])
        #expect(results["y0"]?.shape == [1, 2, 4])
        #expect(results["y2"]?.values == places)
        #expect(results["y3"]?.values == [Double(places.count { $0 >= 0 })])
    }

    /// x[4:0:step] of ten numbers, everything given by inputs.
    @Test(arguments: [(Float(-2), false, [4.0, 2]), (-1, true, [4, 3, 2, 1, 0]), (1, true, [4, 5, 6, 7, 8, 9])])
    func slicesByInputs(step: Float, openEnd: Bool, expected: [Double]) throws {
        let network = Network([[10], [1], [1], [1], [1], [1]]) { $0.sliceDynamic = .init() }
        let y = try network(
            ramp([10]),
            floats([4], [1]),
            floats([0], [1]),
            floats([step], [1]),
            floats([0], [1]),
            floats([openEnd ? 1 : 0], [1])
        )
        #expect(y.values == expected)
    }

    @Test(arguments: [(Float(0), [1.0, 2.0, 4.0, 6.0]), (Float(-1), [1.0, 3, 3, 7])])
    func sumsAlongTheGivenAxis(axis: Float, expected: [Double]) throws {
        let network = Network([[2, 2], [1]]) { $0.cumSum = .init() }
        #expect(try network(floats([1, 2, 3, 4], [2, 2]), floats([axis], [1])).values == expected)
    }

    /// Optional arrays that are left out: filled with the stated value, in the default shape where that is a choice.
    @Test(arguments: [false, true]) func fillsOptionalInputs(isFlexible: Bool) throws {
        var network = Network()
        network.input("x0", [2])
        network.input("x1", [2]) { feature in
            feature.type.isOptional = true
            feature.type.multiArrayType.floatDefaultValue = 5
            guard isFlexible else { return }
            feature.type.multiArrayType.shapeRange.sizeRanges = [sizes(1, 4)]
        }
        network.add("add", ["x0", "x1"], ["y0"]) { $0.addBroadcastable = .init() }
        network.output("y0")
        #expect(try network(floats([1, 2], [2])).values == [6, 7])
        #expect(try network(floats([1, 2], [2]), floats([3, 4], [2])).values == [4, 6])
    }

    @Test func emptyTensorsPass() throws {
        var network = Network()
        network.input("x0", [4])
        network.add("places", ["x0"], ["places"]) { $0.whereNonZero = .init() }
        network.add("twice", ["places"], ["y0"]) {
            $0.unary.type = .abs; $0.unary.scale = 2
        }
        network.output("y0")
        #expect(try network(floats([0, 0, 0, 0], [4])).shape == [0, 1])
        #expect(try network(floats([0, 1, 0, 1], [4])).values == [2, 6])
    }

    /// An output of another rank than declared takes the declared shape when the elements fill it.
    @Test func outputsHaveTheDeclaredRank() throws {
        var network = Network()
        network.input("x0", [1, 1, 2, 3])
        network.add("copy", ["x0"], ["y0"]) { $0.activation.reLu = .init() }
        network.output("y0", [2, 3])
        #expect(try network(ramp([1, 1, 2, 3])).shape == [2, 3])
    }
}

/// [Sequence, Batch, C, H, W] within one array of the legacy mapping.
@Suite struct LegacyBatchTests {
    /// A way to make a network of one layer over [C] or [C, H, W].
    static let networks: [(name: String, shape: [Int], set: @Sendable (inout SpecNeuralNetworkLayer) -> Void)] = [
        (
            "lstm", [2],
            { layer in
                layer.uniDirectionalLstm.inputVectorSize = 2
                layer.uniDirectionalLstm.outputVectorSize = 1
                layer.uniDirectionalLstm.params.sequenceOutput = true
                for path in [
                    \SpecLSTMWeightParams.inputGateWeightMatrix, \.forgetGateWeightMatrix, \.blockInputWeightMatrix,
                    \.outputGateWeightMatrix,
                ] { layer.uniDirectionalLstm.weightParams[keyPath: path].floatValue = [0.5, -0.25] }
                for path in [
                    \SpecLSTMWeightParams.inputGateRecursionMatrix, \.forgetGateRecursionMatrix,
                    \.blockInputRecursionMatrix, \.outputGateRecursionMatrix,
                ] { layer.uniDirectionalLstm.weightParams[keyPath: path].floatValue = [0.75] }
            }
        ),
        ("softmax", [3], { $0.softmax = .init() }), ("l2", [2, 2, 2], { $0.l2Normalize = .init() }),
        ("pool", [1, 2, 2], { $0.pooling.kernelSize = [2, 2] }),
        ("tanh", [2], { $0.tanh = .init() }),
        ("permute", [2, 1, 3], { $0.permute.axis = [0, 3, 1, 2] }),
        ("bands", [1, 2, 2], { $0.lowerTriangular.k = 0 }),
    ]

    /// Each item of a batch gets what it gets alone.
    @Test(arguments: networks.indices) func itemsOfABatchAreIndependent(index: Int) throws {
        let (name, shape, set) = Self.networks[index]
        let network = Network([shape], mapping: .rank5ArrayMapping) { set(&$0) }
        let whole = shape.count == 1 ? shape + [1, 1] : shape
        let (steps, batch) = (name == "lstm" ? 3 : 1, 2)
        let size = whole.reduce(1, *)
        let x = (0..<steps * batch * size).map { Float(($0 * 7) % 11) / 5 - 1 }
        let y = try network(floats(x, [steps, batch] + whole))
        #expect(Array(y.shape.prefix(2)) == [steps, batch])
        let given = y.count / steps / batch
        for item in 0..<batch {
            var own: [Float] = []
            for step in 0..<steps { own += x[((step * batch + item) * size)..<((step * batch + item + 1) * size)] }
            let alone = try network(floats(own, [steps, 1] + whole)).values
            var found: [Double] = []
            for step in 0..<steps {
                let start = (step * batch + item) * given
                found += y.values[start..<(start + given)]
            }
            #expect(isClose(found, alone), "\(name) item \(item)")
        }
    }

    /// The whole sequence moves to another axis, item by item.
    @Test func sequencesPermuteWithinItems() throws {
        let network = Network([[3, 1, 1]], mapping: .rank5ArrayMapping) { $0.permute.axis = [1, 0, 2, 3] }
        let y = try network(ramp([2, 2, 3, 1, 1]))
        #expect(y.shape == [3, 2, 2, 1, 1])
        // x[s, b, c] = 6 s + 3 b + c
        #expect(y.values == [0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11])
    }

    /// Several boxes lie on the sequence axis, one behind the other.
    @Test func regionsAreASequence() throws {
        let network = Network([[1, 2, 2], [4, 1, 1]], mapping: .rank5ArrayMapping) { layer in
            layer.cropResize.targetSize = [1, 1]
            layer.cropResize.mode.samplingMethod = .alignEndpointsMode
            layer.cropResize.spatialScale = 1
        }
        let boxes = floats([0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1], [3, 1, 4, 1, 1])
        let y = try network(ramp([1, 1, 1, 2, 2]), boxes)
        #expect(y.shape == [3, 1, 1, 1, 1])
        #expect(isClose(y.values, [0, 1, 3]))
    }

    /// Boxes cut from every image of a batch, or from the one that each names.
    @Test func regionsAreCutFromBatches() throws {
        for (box, images) in [([Float(0), 0, 1, 1], [0.0, 1]), ([1, 0, 0, 1, 1], [1])] {
            let network = Network([[1, 2, 2], [box.count, 1, 1]], mapping: .rank5ArrayMapping) { layer in
                layer.cropResize.targetSize = [2, 2]
                layer.cropResize.spatialScale = 1
            }
            let y = try network(ramp([1, 2, 1, 2, 2]), floats(box, [1, 1, box.count, 1, 1]))
            #expect(isClose(y.values, images.flatMap { image in (0..<4).map { image * 4 + Double($0) } }))
        }
    }
}
