import Foundation
import MLFiles
import MLSpecification
import Testing

/// `coreml evaluate` with activity classifiers made as Turi Create makes them: they demand a state, which begins with zeros,
/// and were trained with last windows that end in zeros.
struct EvaluateActivityCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    private static let window = 10
    private static let units = 6
    private static let labels = ["rest", "run", "walk"]

    /// h′ = tanh(W (x, h) + b), c′ = c + h′, classes by the softmax of V (h′, c′) + d.
    private struct Recurrence {
        var w: [[Double]]
        var b: [Double]
        var v: [[Double]]
        var d: [Double]

        init() {
            var noise = Noise(state: 42)
            let (units, inputs) = (EvaluateActivityCommandTests.units, 2 * EvaluateActivityCommandTests.window)
            w = (0..<units).map { _ in
                (0..<inputs).map { _ in 0.25 * noise.next() } + (0..<units).map { _ in noise.next() }
            }
            b = (0..<units).map { _ in 0.3 * noise.next() }
            v = (0..<3).map { _ in (0..<2 * units).map { _ in 2 * noise.next() } }
            d = [0.1, 0, -0.1]
        }

        /// The label of each window: an account of its own of what the file says.
        func labels(_ x: [Double], _ y: [Double], together: Bool, filled: (Double) -> Double = { _ in 0 }) -> [String] {
            let (window, units) = (EvaluateActivityCommandTests.window, EvaluateActivityCommandTests.units)
            var (h, c) = ([Double](repeating: 0, count: units), [Double](repeating: 0, count: units))
            var result: [String] = []
            var start = 0
            while start < x.count {
                func samples(_ values: [Double]) -> [Double] {
                    var part = Array(values[start..<min(values.count, start + window)])
                    while part.count < window { part.append(filled(values[values.count - 1])) }
                    return part
                }
                let (xs, ys) = (samples(x), samples(y))
                let inputs = together ? (0..<window).flatMap { [xs[$0], ys[$0]] } : xs + ys
                func sum(_ weights: [Double], _ values: [Double]) -> Double { zip(weights, values).map(*).reduce(0, +) }
                h = zip(w, b).map { tanh(sum($0, inputs + h) + $1) }
                c = zip(c, h).map(+)
                let scores = zip(v, d).map { sum($0, h + c) + $1 }
                result.append(EvaluateActivityCommandTests.labels[scores.indices.max { scores[$0] < scores[$1] } ?? 0])
                start += window
            }
            return result
        }

        /// - Parameters:
        ///   - together: one input [1, window, sensors], `hiddenIn` and `cellIn`, as before version 6; else an input for each
        ///     sensor, and `stateIn`.
        ///   - features: what the metadata say of the sensors.
        func model(together: Bool, features: String? = nil) -> SpecModel {
            let (window, units) = (EvaluateActivityCommandTests.window, EvaluateActivityCommandTests.units)
            var network = SpecNeuralNetworkClassifier()
            func add(_ inputs: [String], _ outputs: [String], _ kind: SpecNeuralNetworkLayer.OneOf_Layer) {
                var layer = SpecNeuralNetworkLayer()
                layer.name = outputs[0]
                (layer.input, layer.output, layer.layer) = (inputs, outputs, kind)
                network.layers.append(layer)
            }
            func product(_ input: String, _ output: String, _ weights: [[Double]], _ bias: [Double]) {
                var layer = SpecInnerProductLayerParams()
                layer.inputChannels = UInt64(weights[0].count)
                layer.outputChannels = UInt64(bias.count)
                layer.weights.floatValue = weights.flatMap { $0.map { Float($0) } }
                layer.hasBias_p = true
                layer.bias.floatValue = bias.map { Float($0) }
                add([input], [output], .innerProduct(layer))
            }
            func array(_ name: String, _ shape: [Int]) -> SpecFeatureDescription {
                var feature = SpecFeatureDescription()
                feature.name = name
                feature.type.multiArrayType.shape = shape.map { Int64($0) }
                feature.type.multiArrayType.dataType = .double
                return feature
            }
            if together {
                add(["features"], ["samples"], .flatten(SpecFlattenLayerParams()))
            } else {
                add(["acc_x", "acc_y"], ["samples"], .concat(SpecConcatLayerParams()))
                for (name, start) in [("hiddenIn", 0), ("cellIn", units)] {
                    var slice = SpecSliceLayerParams()
                    slice.axis = .channelAxis
                    (slice.startIndex, slice.endIndex, slice.stride) = (Int64(start), Int64(start + units), 1)
                    add(["stateIn"], [name], .slice(slice))
                }
            }
            add(["samples", "hiddenIn"], ["past"], .concat(SpecConcatLayerParams()))
            product("past", "sums", w, b)
            var tanh = SpecActivationParams()
            tanh.tanh = SpecActivationTanh()
            add(["sums"], ["hiddenOut"], .activation(tanh))
            add(["cellIn", "hiddenOut"], ["cellOut"], .add(SpecAddLayerParams()))
            add(["hiddenOut", "cellOut"], ["stateOut"], .concat(SpecConcatLayerParams()))
            product("stateOut", "scores", v, d)
            add(["scores"], ["activityProbability"], .softmax(SpecSoftmaxLayerParams()))
            network.labelProbabilityLayerName = "activityProbability"
            network.stringClassLabels.vector = EvaluateActivityCommandTests.labels

            var model = SpecModel()
            model.specificationVersion = 1
            model.neuralNetworkClassifier = network
            var (label, shares) = (SpecFeatureDescription(), SpecFeatureDescription())
            label.name = "activity"
            label.type.stringType = SpecStringFeatureType()
            shares.name = "activityProbability"
            shares.type.dictionaryType.stringKeyType = SpecStringFeatureType()
            let states = together ? [("hidden", units), ("cell", units)] : [("state", 2 * units)]
            model.description_p.input =
                (together
                    ? [array("features", [1, window, 2])] : [array("acc_x", [window]), array("acc_y", [window])])
                + states.map { array($0.0 + "In", [$0.1]) }
            model.description_p.output = [shares, label] + states.map { array($0.0 + "Out", [$0.1]) }
            model.description_p.predictedFeatureName = "activity"
            model.description_p.predictedProbabilitiesName = "activityProbability"
            if let features { model.description_p.metadata.userDefined["features"] = features }
            return model
        }
    }

    private struct Noise {
        var state: UInt64

        /// From −1 to 1.
        mutating func next() -> Double {
            state = state &* 48271 % 2_147_483_647
            return 2 * Double(state) / 2_147_483_647 - 1
        }
    }

    private struct Recording {
        var x: [Double] = []
        var y: [Double] = []
        var labels: [String] = []
    }

    /// Lengths that are no whole windows, and one below a window.
    private let recordings: [Recording] = [37, 4, 50, 61, 29, 13].enumerated().map { index, rows in
        var noise = Noise(state: UInt64(index + 3))
        var result = Recording()
        for row in 0..<rows {
            result.x.append(2 + noise.next())
            result.y.append(-3 + 2 * noise.next())
            result.labels.append(Self.labels[(index + row / 17) % 3])
        }
        return result
    }

    /// How often rows with each label are given each.
    private func confusion(_ said: (Recording) -> [String]) -> [[Int]] {
        var counts = [[Int]](repeating: [0, 0, 0], count: 3)
        for recording in recordings {
            let windows = said(recording)
            for (row, label) in recording.labels.enumerated() {
                let places = [label, windows[row / Self.window]].compactMap { Self.labels.firstIndex(of: $0) }
                counts[places[0]][places[1]] += 1
            }
        }
        return counts
    }

    private func table(_ names: [String]) -> String {
        names.joined(separator: ",") + ",activity,session\n"
            + recordings.enumerated().flatMap { index, recording in
                recording.labels.indices.map {
                    "\(recording.x[$0]),\(recording.y[$0]),\(recording.labels[$0]),\(index)\n"
                }
            }.joined()
    }

    @discardableResult private func write(_ model: SpecModel, _ name: String = "Turi.mlmodel") throws -> String {
        try folder.write(Data(SpecificationReader.encode(model)), name)
    }

    private let columns = ["--label", "activity", "--recording", "session", "--json"]

    private func evaluated(_ model: String, _ data: String, _ more: [String] = []) throws -> [String: Any] {
        let run = try coreml(arguments: ["evaluate", model, data] + columns + more)
        #expect(run.status == 0, "\(run.errors)")
        return run.status == 0 ? try CommandFolder.object(run.output) : [:]
    }

    @Test func statesBeginWithZerosAndLastWindowsEndInThem() throws {
        let recurrence = Recurrence()
        let model = try write(recurrence.model(together: false))
        let found = try evaluated(model, try folder.write(table(["acc_x", "acc_y"]), "motion.csv"))
        let expected = confusion { recurrence.labels($0.x, $0.y, together: false) }
        #expect(found["confusion"] as? [[Int]] == expected)
        #expect(found["rows"] as? Int == 194)
        // The test can tell.
        let repeated = confusion { recurrence.labels($0.x, $0.y, together: false) { $0 } }
        #expect(expected != repeated)
        // Ours say that they learned the last row; what a file says is done.
        var specification = recurrence.model(together: false)
        specification.description_p.metadata.userDefined["windowFilling"] = "lastRow"
        try write(specification)
        #expect(try evaluated(model, folder.path("motion.csv"))["confusion"] as? [[Int]] == repeated)
        specification.description_p.metadata.userDefined["windowFilling"] = "mean"
        try write(specification)
        try CommandFolder.expectFailures([
            (["evaluate", model, folder.path("motion.csv")] + columns, 1, "it is one of 'zeros', 'lastRow'")
        ])
    }

    @Test func oneInputOfAllSensorsIsFedRowByRow() throws {
        let recurrence = Recurrence()
        let expected = confusion { recurrence.labels($0.x, $0.y, together: true) }
        let data = try folder.write(table(["acc_x", "acc_y"]), "motion.csv")
        let named = try write(recurrence.model(together: true, features: "acc_x,acc_y"), "Named.mlmodel")
        let nameless = try write(recurrence.model(together: true), "Nameless.mlmodel")
        #expect(try evaluated(named, data)["confusion"] as? [[Int]] == expected)
        let more = ["--features", "acc_x", "acc_y"]
        #expect(try evaluated(nameless, data, more)["confusion"] as? [[Int]] == expected)
        #expect(expected != confusion { recurrence.labels($0.x, $0.y, together: true) { $0 } }, "the test can tell")
        try CommandFolder.expectFailures([
            (["evaluate", nameless, data] + columns, 1, "name their columns in its order"),
            (
                ["evaluate", named, data] + columns + ["--features", "acc_x"], 1,
                "the model takes 2 sensors: acc_x, acc_y"
            ),
        ])
    }
}
