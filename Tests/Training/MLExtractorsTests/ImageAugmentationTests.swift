import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import Testing

@Suite struct ImageAugmentationTests {
    /// An extractor of pictures of 24 × 24 pixels, whose features are the means of its colours.
    private func encoder() throws -> ImageFeatureEncoder {
        var network = NetworkLayers(.float32)
        network.globalMean("image", "pool")
        network.reshape("pool", "features", [3])
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image("image", width: 24, height: 24, "")]
        model.description_p.output = [.floats("features", [3], "")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return try ImageFeatureEncoder(ModelFile(specification: model))
    }

    /// A picture of 48 × 36 pixels: red rises to the right, green downwards; blue is a chequerboard.
    private let picture: Bitmap = {
        var bitmap = Bitmap(width: 48, height: 36, layout: .rgba)
        for y in 0..<36 {
            for x in 0..<48 {
                let place = (y * 48 + x) * 4
                bitmap.pixels[place] = UInt8(x * 5)
                bitmap.pixels[place + 1] = UInt8(y * 7)
                bitmap.pixels[place + 2] = (x / 6 + y / 6) % 2 == 0 ? 40 : 110
                bitmap.pixels[place + 3] = 255
            }
        }
        return bitmap
    }()

    private func values(_ bitmap: Bitmap, _ component: Int) -> [Double] {
        stride(from: component, to: bitmap.pixels.count, by: 4).map { Double(bitmap.pixels[$0]) }
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    private func deviation(_ values: [Double]) -> Double {
        let middle = mean(values)
        return mean(values.map { ($0 - middle) * ($0 - middle) }).squareRoot()
    }

    @Test func encodesTheMiddle() throws {
        let encoder = try encoder()
        #expect((encoder.width, encoder.height, encoder.featureCount) == (24, 24, 3))
        let fitted = encoder.fitted(picture)
        let features = try encoder.features(of: fitted)
        for component in 0..<3 { #expect(abs(Double(features[component]) - mean(values(fitted, component))) < 0.01) }
        // The middle 36 of 48 columns: red from 30 to 205.
        #expect(abs(mean(values(fitted, 0)) - 117.5) < 1)
    }

    @Test func changesAsNamed() throws {
        let encoder = try encoder()
        let plain = encoder.fitted(picture)
        for seed in 0..<20 as Range<UInt64> {
            func changed(_ augmentation: ImageAugmentation) -> Bitmap {
                var source = SplitMix64(seed: seed)
                let result = augmentation.changed(picture, encoder, &source)
                var again = SplitMix64(seed: seed)
                #expect(result == augmentation.changed(picture, encoder, &again))
                #expect((result.width, result.height) == (24, 24))
                #expect(values(result, 3).allSatisfy { $0 == 255 })
                return result
            }
            #expect(changed(.flip) == plain.mirrored)
            let crop = changed(.crop)
            // A part of the picture: its colours span less than the middle's and rise in the same directions.
            let span = (values(crop, 0).max() ?? 0) - (values(crop, 0).min() ?? 0)
            #expect(span > 100 && span < 176, "\(span)")
            let exposure = mean(values(changed(.exposure), 0)) / mean(values(plain, 0))
            #expect((exposure > 1.15 && exposure < 2.05) || (exposure < 0.85 && exposure > 0.45), "\(exposure)")
            let noise = zip(values(changed(.noise), 2), values(plain, 2)).map { $0 - $1 }
            #expect(deviation(noise) > 7 && deviation(noise) < 30, "\(deviation(noise))")
            #expect(abs(mean(noise)) < 6)
            #expect(deviation(values(changed(.blur), 2)) < 0.97 * deviation(values(plain, 2)))
            #expect(abs(mean(values(changed(.blur), 0)) - mean(values(plain, 0))) < 1.5)
            let rotation = changed(.rotation)
            #expect(abs(values(rotation, 0)[12 * 24 + 12] - values(plain, 0)[12 * 24 + 12]) < 12)
            // Red still rises to the right, green downwards.
            #expect(values(rotation, 0)[12 * 24 + 22] > values(rotation, 0)[12 * 24 + 2] + 60)
            #expect(values(rotation, 1)[22 * 24 + 12] > values(rotation, 1)[2 * 24 + 12] + 60)
        }
        var source = SplitMix64(seed: 1)
        #expect(ImageAugmentation.rotation.changed(picture, encoder, &source) != plain)
    }
}
