import CoreMLExtras
import Testing

extension LayerSamples {
    static let shapes: [LayerSample] = [
        LayerSample("flatten", [[1, 2, 3, 3]]) { $0.flatten("layer", "x0", output: "y") },
        LayerSample("flattenTo2D", [[2, 3, 4]]) { $0.flattenTo2D("layer", "x0", axis: 1, output: "y") },
        LayerSample("reshape", [[2, 3, 4]], arrays: .rank5) {
            $0.reshape("layer", "x0", shape: [4, 3, 2], .channelLast, output: "y")
        },
        LayerSample("reshapeStatic", [[2, 3]]) { $0.reshapeND("layer", "x0", shape: [-1, 2], output: "y") },
        LayerSample("reshapeLike", [[2, 3], [3, 2]]) { $0.reshapeLike("layer", "x0", like: "x1", output: "y") },
        LayerSample("reshapeDynamic", [[2, 3], [2]]) { $0.reshapeDynamic("layer", "x0", shape: "x1", output: "y") },
        LayerSample("rankPreservingReshape", [[2, 3]]) {
            $0.rankPreservingReshape("layer", "x0", shape: [3, -1], output: "y")
        },
        LayerSample("permute", [[2, 3, 4]], arrays: .rank5) {
            $0.permute("layer", "x0", axes: [0, 3, 1, 2], output: "y")
        },
        LayerSample("transpose", [[2, 3, 4]]) { $0.transpose("layer", "x0", axes: [2, 0, 1], output: "y") },
        LayerSample("squeeze", [[2, 1, 3]]) { $0.squeeze("layer", "x0", axes: [1], output: "y") },
        LayerSample("expandDims", [[2, 3]]) { $0.expandDims("layer", "x0", axes: [0, -1], output: "y") },
        LayerSample("getShape", [[2, 3]]) { $0.getShape("layer", "x0", output: "y") },
        LayerSample("reverse", [[2, 3]]) { $0.reverse("layer", "x0", axes: [true, false], output: "y") },
        LayerSample("reverseSeq", [[2, 3], [2]]) { $0.reverseSequence("layer", "x0", lengths: "x1", output: "y") },
        LayerSample("matrixBandPart", [[3, 3]]) { $0.matrixBandPart("layer", "x0", lower: 1, upper: 0, output: "y") },
        LayerSample("lowerTriangular", [[3, 3]]) { $0.lowerTriangular("layer", "x0", k: -1, output: "y") },
        LayerSample("upperTriangular", [[3, 3]]) { $0.upperTriangular("layer", "x0", k: 1, output: "y") },
        LayerSample("concat", [[1, 2, 3, 3], [1, 1, 3, 3]]) { $0.concat("layer", ["x0", "x1"], output: "y") },
        LayerSample("concatND", [[2, 3], [2, 3]]) {
            $0.concatND("layer", ["x0", "x1"], axis: 1, isInterleaved: true, output: "y")
        },
        LayerSample("stack", [[2, 3], [2, 3]]) { $0.stack("layer", ["x0", "x1"], axis: 1, output: "y") },
        LayerSample("split", [[1, 4, 3, 3]], outputs: ["y0", "y1"]) {
            $0.split("layer", "x0", outputs: ["y0", "y1"])
        },
        LayerSample("splitND", [[2, 5]], outputs: ["y0", "y1"]) {
            $0.splitND("layer", "x0", axis: 1, sizes: [2, 3], outputs: ["y0", "y1"])
        },
        LayerSample("sequenceRepeat", [[2, 3, 3]], arrays: .rank5) {
            $0.sequenceRepeat("layer", "x0", count: 3, output: "y")
        },
        LayerSample("tile", [[2, 3]]) { $0.tile("layer", "x0", counts: [2, 1], output: "y") },
        LayerSample("tile", [[2, 3], [2]]) { $0.tileDynamic("layer", "x0", counts: "x1", output: "y") },
        LayerSample("slidingWindows", [[6]]) {
            $0.slidingWindows("layer", "x0", axis: 0, size: 3, step: 1, output: "y")
        },
        LayerSample("constantPad", [[2, 3]]) {
            $0.constantPad("layer", "x0", amounts: [0, 1, 1, 0], value: 2, output: "y")
        },
        LayerSample("constantPad", [[2, 3]]) {
            $0.constantPad("layer", "x0", toSizes: [0, 4, 5, 0], output: "y")
        },
    ]

    static let selections: [LayerSample] = [
        LayerSample("slice", [[1, 2, 5, 5]]) {
            $0.slice("layer", "x0", axis: .width, from: 1, to: -1, stride: 2, output: "y")
        },
        LayerSample("sliceStatic", [[3, 4]]) {
            $0.slice("layer", "x0", [.init(1, nil), .element(2)], output: "y")
        },
        LayerSample("sliceDynamic", [[3, 4], [2]]) {
            $0.sliceDynamic("layer", "x0", begin: "x1", [.init(0, 2), .init(0, nil)], output: "y")
        },
        LayerSample("sliceBySize", [[4, 3], [1]]) {
            $0.sliceBySize("layer", "x0", begin: "x1", axis: 0, size: 2, output: "y")
        },
        LayerSample("gather", [[4, 3], [2]]) { $0.gather("layer", "x0", indices: "x1", output: "y") },
        LayerSample("scatter", [[4, 3], [2], [2, 3]]) {
            $0.scatter("layer", "x0", indices: "x1", updates: "x2", .add, output: "y")
        },
        LayerSample("gatherND", [[4, 3], [2, 1]]) { $0.gatherND("layer", "x0", indices: "x1", output: "y") },
        LayerSample("scatterND", [[4, 3], [2, 1], [2, 3]]) {
            $0.scatterND("layer", "x0", indices: "x1", updates: "x2", .multiply, output: "y")
        },
        LayerSample("gatherAlongAxis", [[4, 3], [2, 3]]) {
            $0.gatherAlongAxis("layer", "x0", indices: "x1", output: "y")
        },
        LayerSample("scatterAlongAxis", [[4, 3], [2, 3], [2, 3]]) {
            $0.scatterAlongAxis("layer", "x0", indices: "x1", updates: "x2", .maximum, output: "y")
        },
        LayerSample("topK", [[2, 5]], outputs: ["y0", "y1"]) {
            _ = $0.topK("layer", "x0", count: 2, axis: 1, isLeast: true, outputs: ("y0", "y1"))
        },
        LayerSample("argSort", [[2, 5]]) { $0.argSort("layer", "x0", axis: 1, isDescending: true, output: "y") },
        LayerSample("whereNonZero", [[2, 3]]) { $0.whereNonZero("layer", "x0", output: "y") },
        LayerSample("oneHot", [[3]]) { $0.oneHot("layer", "x0", size: 4, on: 2, off: -1, output: "y") },
        LayerSample("NonMaximumSuppression", [[1, 3, 4], [1, 3, 2]], outputs: ["y0", "y1", "y2", "y3"]) {
            $0.nonMaximumSuppression(
                "layer",
                boxes: "x0",
                scores: "x1",
                overlap: 0.25,
                score: 0.125,
                count: 2,
                perClass: true,
                outputs: ["y0", "y1", "y2", "y3"]
            )
        },
    ]

    static let makers: [LayerSample] =
        [
            LayerSample("loadConstant", [[1, 2, 3, 3]], outputs: ["y", "x"]) {
                $0.constant("layer", weights(18), shape: (2, 3, 3), output: "y")
                $0.copy("second", "x0", output: "x")
            },
            LayerSample("loadConstantND", [[2, 3]], outputs: ["y", "x"]) {
                $0.constantND("layer", weights(6), shape: [2, 3], output: "y")
                $0.copy("second", "x0", output: "x")
            },
            LayerSample("rangeStatic", [[1]], outputs: ["y", "x"]) {
                $0.range("layer", from: 1, to: 7, step: 2, output: "y")
                $0.copy("second", "x0", output: "x")
            },
            LayerSample("rangeDynamic", [[1]]) { $0.rangeDynamic("layer", to: "x0", from: -3, step: 1, output: "y") },
            LayerSample("fillLike", [[2, 3]]) { $0.fillLike("layer", like: "x0", value: 1.5, output: "y") },
            LayerSample("fillStatic", [[1]], outputs: ["y", "x"]) {
                $0.fill("layer", shape: [2, 3], value: 1.5, output: "y")
                $0.copy("second", "x0", output: "x")
            },
            LayerSample("fillDynamic", [[2]]) { $0.fillDynamic("layer", shape: "x0", value: 1.5, output: "y") },
            LayerSample("categoricalDistribution", [[2, 3]]) {
                $0.categoricalDistribution("layer", "x0", count: 5, temperature: 2, seed: 3, output: "y")
            },
        ]
        + [
            ("randomNormal", NeuralNetworkBuilder.Distribution.normal(mean: 1, deviation: 2)),
            ("randomUniform", .uniform(-1, 2)), ("randomBernoulli", .bernoulli(probability: 0.25)),
        ].flatMap { kind, distribution in
            [
                LayerSample(kind + "Like", [[2, 3]]) {
                    $0.random("layer", distribution, .like("x0"), seed: 7, output: "y")
                },
                LayerSample(kind + "Static", [[1]], outputs: ["y", "x"]) {
                    $0.random("layer", distribution, .fixed([2, 3]), seed: 7, output: "y")
                    $0.copy("second", "x0", output: "x")
                },
                LayerSample(kind + "Dynamic", [[2]]) {
                    $0.random("layer", distribution, .dynamic("x0"), seed: 7, output: "y")
                },
            ]
        }

    static let flows: [LayerSample] = [
        LayerSample("branch", [[1]]) {
            $0.branch(
                "layer",
                "x0",
                then: { $0.elementwise("a", .exp2, "x0", output: "y") },
                else: { $0.elementwise("b", .sin, "x0", output: "y") }
            )
        },
        LayerSample("loop", [[1]]) {
            $0.copy("first", "x0", output: "y")
            $0.loop("layer", count: 3) { body in
                let next = body.add("step", ["y"], alpha: 1)
                body.copy("back", next, output: "y")
            }
        },
        LayerSample("loopBreak", [[1]]) {
            $0.copy("first", "x0", output: "y")
            $0.loop("loop", count: 5) { body in
                body.copy("back", body.add("step", ["y"], alpha: 1), output: "y")
                let end = body.compare("end", .greater, "y", with: 2)
                body.branch("stop", end, then: { $0.loopBreak("layer") })
            }
        },
        LayerSample("loopContinue", [[1]]) {
            $0.copy("first", "x0", output: "y")
            $0.loop("loop", count: 5) { body in
                let high = body.compare("high", .greater, "y", with: 2)
                body.branch("skip", high, then: { $0.loopContinue("layer") })
                body.copy("back", body.add("step", ["y"], alpha: 1), output: "y")
            }
        },
        LayerSample("custom", [[2, 3]]) {
            $0.custom(
                "layer",
                ["x0"],
                className: "BuilderTestTwice",
                parameters: ["factor": .double(2), "name": .string("twice"), "flag": .bool(true)],
                weights: [weights(3)],
                description: "doubles",
                outputs: ["y"]
            )
        },
    ]
}
