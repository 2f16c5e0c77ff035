import CoreGraphics
import CoreML
import CreateML
import Foundation
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import MLStyleTraining
import Testing

@Suite struct StyleTransferTests {
    @Test func `A session trains, shows its progress, and gives a model for pictures of any size`() async throws {
        let files = try StyleFixtures.Files()
        let validation = files.folder.file("shown.png")
        try files.write(StyleFixtures.disc(75, 66), to: validation)
        var parameters = files.parameters(iterations: 30)
        parameters.validation = .content(validation)
        let job = try MLStyleTransfer.train(
            trainingData: files.data,
            parameters: parameters,
            sessionParameters: files.session("session", interval: 10)
        )
        let product = try await job.value
        #expect(product.skipped.isEmpty)

        let reports = job.reports.filter { $0.phase == .training && $0.itemCount > 0 }
        #expect(reports.map(\.itemCount) == Array(1...30))
        let losses = reports.compactMap { $0.metrics[.styleLoss] as? Double }
        #expect(losses.count == 27)
        #expect(reports.allSatisfy { $0.metrics[.loss] is Double })
        #expect(reports.last?.metrics[.contentLoss] is Double)
        let (first, last) = (losses.prefix(3).reduce(0, +), losses.suffix(3).reduce(0, +))
        #expect(last < 0.8 * first, "the style loss fell from \(first / 3) to \(last / 3)")

        // A picture of the progress for every checkpoint, of the validation picture.
        let pictures = reports.compactMap { $0.metrics[.stylizedImageURL] as? URL }
        #expect(Set(pictures.map(\.lastPathComponent)).count == 3)
        for picture in Set(pictures) {
            let image = try #require(Self.image(picture))
            #expect((image.width, image.height) == (75, 66))
        }
        #expect(job.reports.last?.metrics[.stylizedImageURL] is URL)

        let url = files.folder.file("Stripes.mlmodel")
        try product.write(to: url, metadata: MLModelMetadata(author: "A", shortDescription: "Stripes"))
        let model = try MLModel(contentsOf: url)
        let interface = model.modelDescription
        #expect(interface.metadata[.author] as? String == "A")
        let range = try #require(interface.inputDescriptionsByName["image"]?.imageConstraint?.sizeConstraint)
        #expect(range.pixelsWideRange.location == 64)
        #expect(interface.outputDescriptionsByName["stylizedImage"]?.type == .image)
        for (width, height) in [(64, 64), (101, 78)] {
            let image = CGImage(StyleFixtures.disc(width, height), isOpaque: true)
            let drawn = try #require(try product.stylize(image: image))
            #expect((drawn.width, drawn.height) == (width, height))
            let value = try MLFeatureValue(
                cgImage: image,
                pixelsWide: width,
                pixelsHigh: height,
                pixelFormatType: kCVPixelFormatType_32BGRA,
                options: nil
            )
            let output = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
            #expect(output.featureValue(for: "stylizedImage")?.imageBufferValue?.bitmap == drawn.bitmap)
            #expect(drawn.bitmap != image.bitmap)
        }
    }

    private static func image(_ url: URL) -> CGImage? {
        CGImageSourceCreateWithURL(url as NSURL, nil).flatMap { CGImageSourceCreateImageAtIndex($0, 0, nil) }
    }

    @Test func `The model file draws what training drew`() throws {
        let network = StyleNetwork.lite
        var source = SplitMix64(seed: 8)
        let parameters = network.firstParameters(&source).map(\.value)
        let picture = StyleImage(StyleFixtures.disc(93, 71))
        let drawn = try StyleDrawing(network: network, parameters: parameters).drawn(picture)
        let file = ModelFile(specification: network.specification(parameters: parameters))
        let model = try MLModel(file, configuration: MLModelConfiguration())
        let value = try MLFeatureValue(
            cgImage: CGImage(picture.bitmap, isOpaque: true),
            pixelsWide: 93,
            pixelsHigh: 71,
            pixelFormatType: kCVPixelFormatType_32BGRA,
            options: nil
        )
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
        let other = try #require(output.featureValue(for: "stylizedImage")?.imageBufferValue?.bitmap)
        let differences = zip(drawn.bitmap.pixels, other.pixels).map { abs(Int($0) - Int($1)) }
        #expect(drawn.bitmap.pixels.count == other.pixels.count)
        #expect((differences.max() ?? 255) <= 1)
        #expect(Set(drawn.bytes).count > 20)
    }

    @Test func `An interrupted session resumes to the same bytes`() async throws {
        let files = try StyleFixtures.Files()
        var parameters = files.parameters(iterations: 14)
        parameters.medium = .video
        func train(_ name: String, limit: Int) async throws -> Data {
            let job = try MLStyleTransfer.train(
                trainingData: files.data,
                parameters: parameters,
                sessionParameters: files.session(name, iterations: limit, interval: 4)
            )
            let url = files.folder.file(name + ".mlmodel")
            try await job.value.write(to: url)
            return try Data(contentsOf: url)
        }
        let whole = try await train("whole", limit: 14)
        let part = try await train("parts", limit: 6)
        #expect(part != whole)
        let resumed = try await train("parts", limit: 14)
        #expect(resumed == whole)

        // The session holds the pictures; only the network must still be there.
        try FileManager.default.removeItem(at: files.contents)
        let session = try MLStyleTransfer.restoreTrainingSession(sessionParameters: files.session("whole"))
        #expect(session.iteration == 14)
        let checkpoint = try #require(session.checkpoints.first)
        let early = try MLStyleTransfer(checkpoint: checkpoint)
        #expect(try early.stylize(image: CGImage(StyleFixtures.disc(64, 64), isOpaque: true)) != nil)
        let picture = checkpoint.url.deletingPathExtension().appendingPathExtension("png")
        #expect(FileManager.default.fileExists(atPath: picture.path))
        try session.removeCheckpoints { $0.iteration == checkpoint.iteration }
        #expect(!FileManager.default.fileExists(atPath: picture.path))

        try ModelFile.writeModel(StyleFixtures.network(kernelScale: 0.5), to: files.network.path)
        #expect(throws: (any Error).self) {
            _ = try MLStyleTransfer.restoreTrainingSession(sessionParameters: files.session("whole"))
        }
    }

    @Test(arguments: [false, true])
    func `The centre of a crop is found in one that has moved`(isMirrored: Bool) throws {
        let (width, height, side) = (70, 50, 32)
        var source = SplitMix64(seed: 3)
        let bytes = (0..<width * height * 3).map { _ in UInt8.random(in: 0...255, using: &source) }
        let image = try StyleImage(width: width, height: height, bytes: bytes)
        var movements: Set<[Int]> = []
        for trial in 0..<40 {
            // At the corners, too.
            let (x, y) = (trial % 3 * (width - side) / 2, trial % 2 * (height - side))
            let first = image.crop(x: x, y: y, width: side, height: side, isMirrored: isMirrored)
            let values = StyleMovement.values(
                of: image,
                x: x,
                y: y,
                isMirrored: isMirrored,
                cropSize: side,
                &source
            )
            let (moved, rows, columns) = (values[0], values[1].floatValues, values[2].floatValues)
            let size = values[1].shape[2]
            #expect(moved.shape == [1, 3, side, side])
            let (before, after) = (first.floatValues, moved.floatValues)
            let margin = (side - size) / 2
            var difference: Float = 0
            for row in 0..<size {
                let there = try #require((0..<side).first { rows[row * side + $0] == 1 })
                for column in 0..<size {
                    let position = try #require((0..<side).first { columns[column * side + $0] == 1 })
                    if row == 0, column == 0 { movements.insert([there - margin, position - margin]) }
                    difference += abs(
                        after[there * side + position] - before[(margin + row) * side + margin + column]
                    )
                }
            }
            // The mean of a normal distribution's absolute values is 0.8 of its deviation.
            #expect(difference / Float(size * size) < StyleMovement.noiseDeviation)
        }
        #expect(movements.count > 10)
    }

    @Test func `Other parameters and pictures do not continue a session`() async throws {
        let files = try StyleFixtures.Files()
        func job(_ change: (inout MLStyleTransfer.ModelParameters) -> Void = { _ in }) throws -> MLJob<MLStyleTransfer>
        {
            var parameters = files.parameters(iterations: 1)
            change(&parameters)
            return try MLStyleTransfer.train(
                trainingData: files.data,
                parameters: parameters,
                sessionParameters: files.session("session")
            )
        }
        _ = try await job().value
        for change: (inout MLStyleTransfer.ModelParameters) -> Void in [
            { $0.styleStrength = 6 }, { $0.medium = .video }, { $0.algorithm = .cnn },
        ] {
            #expect {
                _ = try job(change)
            } throws: {
                if case MLCreateError.incompatibleParameters = $0 { true } else { false }
            }
        }
        try files.write(StyleFixtures.disc(70, 70), to: files.contents.appendingPathComponent("9.png"))
        #expect {
            _ = try job()
        } throws: {
            if case MLCreateError.modifiedTrainingData = $0 { true } else { false }
        }
    }

    @Test func `Files that are no pictures are left out and named`() throws {
        let files = try StyleFixtures.Files()
        try Data("no picture".utf8).write(to: files.contents.appendingPathComponent("a.png"))
        try Data().write(to: files.contents.appendingPathComponent("b.jpg"))
        let whole = try Data(contentsOf: files.style)
        try whole.prefix(whole.count / 2).write(to: files.contents.appendingPathComponent("c.png"))
        let product = try MLStyleTransfer(trainingData: files.data, parameters: files.parameters(iterations: 1))
        #expect(product.skipped.map(\.name) == ["a.png", "b.jpg", "c.png"])
        #expect(product.description.contains("Images left out: 3"))
    }

    @Test func `Pictures are prepared as squares, or in their proportions`() throws {
        let files = try StyleFixtures.Files()
        let processed = try files.data.processImages(
            textelDensity: 72,
            styleImageDestination: files.folder.file("out/style.png"),
            contentImagesDestination: files.folder.file("out/contents")
        )
        #expect(try #require(Self.image(processed.processedStyleImage)).width == 72)
        let names = try FileManager.default.contentsOfDirectory(atPath: processed.processedContentImages.path).sorted()
        #expect(names == ["content-00001.png", "content-00002.png", "content-00003.png"])
        let source = MLStyleTransfer.DataSource.images(
            styleImage: files.style,
            contentDirectory: files.contents,
            processingOption: nil
        )
        let style = try #require(Self.image(source.processImages(textelDensity: 160).processedStyleImage))
        #expect((style.width, style.height) == (192, 160))
    }

    @Test(arguments: ["textelDensity", "styleStrength", "maxIterations", "featureExtractor", "validation"])
    func `Parameters out of range are named`(_ parameter: String) throws {
        let files = try StyleFixtures.Files()
        var parameters = files.parameters(iterations: 1)
        let missing = URL(fileURLWithPath: "/nowhere/missing.bin")
        let named: String
        switch parameter {
        case "textelDensity": (parameters.textelDensity, named) = (66, "textel density is 66")
        case "styleStrength": (parameters.styleStrength, named) = (11, "style strength is 11")
        case "maxIterations": (parameters.maxIterations, named) = (0, "number of iterations is 0")
        case "featureExtractor": (parameters.featureExtractor, named) = (.custom(missing), "missing.bin")
        default: (parameters.validation, named) = (.content(missing), "missing.bin")
        }
        #expect {
            _ = try MLStyleTransfer(trainingData: files.data, parameters: parameters)
        } throws: {
            "\($0)".contains(named)
        }
    }

    @Test func `Pictures and networks that cannot be used are named`() throws {
        let files = try StyleFixtures.Files()
        let parameters = files.parameters(iterations: 1)
        func message(_ style: URL, _ contents: URL) -> String {
            do {
                let source = MLStyleTransfer.DataSource.images(styleImage: style, contentDirectory: contents)
                _ = try MLStyleTransfer(trainingData: source, parameters: parameters)
                return ""
            } catch { return "\(error)" }
        }
        #expect(message(files.folder.file("none.jpg"), files.contents).contains("none.jpg"))
        #expect(message(files.network, files.contents).contains("network.mlmodel"))
        #expect(message(files.style, files.folder.file("nothing")).contains("nothing"))
        let empty = files.folder.file("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        #expect(message(files.style, empty).contains("a few tens"))

        try ModelFile.writeModel(StyleFixtures.network(rectified: false), to: files.network.path)
        #expect(message(files.style, files.contents).contains("no rectified convolutions"))
        var array = try StyleFixtures.network()
        array.description_p.input[0].type.multiArrayType.shape = [1, 3, 64, 64]
        array.description_p.input[0].type.multiArrayType.dataType = .float32
        array.neuralNetwork.preprocessing = []
        try ModelFile.writeModel(array, to: files.network.path)
        #expect(message(files.style, files.contents).contains("one colour image"))
    }

    @Test func `A picture that is too small is refused`() throws {
        let files = try StyleFixtures.Files()
        let product = try MLStyleTransfer(trainingData: files.data, parameters: files.parameters(iterations: 1))
        #expect {
            _ = try product.stylize(image: CGImage(StyleFixtures.disc(40, 90), isOpaque: true))
        } throws: {
            "\($0)".contains("40 × 90")
        }
    }

    @Test func `A network's values are chosen by size`() throws {
        let network = try LossNetwork(ModelFile(specification: try StyleFixtures.network()))
        // The only value at the whole size, the first at a half, and the first at a quarter.
        #expect(network.styleChannels == [8, 12, 16])
    }
}
