import CoreML
import Foundation
import MLImages
import Testing
import Vision

struct VisionTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Fixtures/digits")

    static func model() throws -> VNCoreMLModel {
        try VNCoreMLModel(for: MLModel(contentsOf: folder.appendingPathComponent("Digits.mlpackage")))
    }

    @Test func classifiesEveryKindOfSource() throws {
        let url = Self.folder.appendingPathComponent("held-out/7-2.png")
        let data = try Data(contentsOf: url)
        let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
        let image = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
        let value = try MLFeatureValue(
            cgImage: image,
            pixelsWide: 28,
            pixelsHigh: 28,
            pixelFormatType: kCVPixelFormatType_32BGRA
        )
        let buffer = try #require(value.imageBufferValue)
        let handlers = [
            VNImageRequestHandler(url: url), VNImageRequestHandler(data: data), VNImageRequestHandler(cgImage: image),
            VNImageRequestHandler(cvPixelBuffer: buffer), VNImageRequestHandler(cgImage: image, orientation: .up),
        ]
        for handler in handlers {
            var completed = 0
            let request = VNCoreMLRequest(model: try Self.model()) { request, error in
                #expect(error == nil && request.results?.count == 10)
                completed += 1
            }
            try handler.perform([request])
            let best = try #require(request.results?.first as? VNClassificationObservation)
            #expect(best.identifier == "7" && best.confidence > 0.5 && completed == 1)
            // A Core ML model knows no precision and recall.
            #expect(!best.hasPrecisionRecallCurve && !best.hasMinimumPrecision(0, forRecall: 0))
            #expect(!best.hasMinimumRecall(0, forPrecision: 0))
            #expect(best.description == "7 (\(best.confidence))")
        }
    }

    @Test func failuresReachTheHandlerAndTheCaller() throws {
        var failure: (any Error)?
        let request = VNCoreMLRequest(model: try Self.model()) { failure = $1 }
        let handler = VNImageRequestHandler(url: URL(fileURLWithPath: "/nowhere.png"))
        #expect(throws: VNError.self) { try handler.perform([request]) }
        #expect(failure is VNError)
        let cancelled = VNCoreMLRequest(model: try Self.model())
        cancelled.cancel()
        #expect(throws: VNError.self) { try handler.perform([cancelled]) }
    }

    @Test func resultsAreThoseOfTheLastRun() throws {
        let handler = VNImageRequestHandler(url: Self.folder.appendingPathComponent("held-out/7-2.png"))
        let broken = VNImageRequestHandler(url: URL(fileURLWithPath: "/nowhere.png"))
        let request = VNCoreMLRequest(model: try Self.model())
        #expect(request.results == nil)
        try handler.perform([request])
        #expect(request.results?.count == 10)
        #expect(throws: VNError.self) { try broken.perform([request]) }
        #expect(request.results == nil)
        try handler.perform([request])
        #expect(request.results?.count == 10)
        request.cancel()
        #expect(throws: VNError.self) { try handler.perform([request]) }
        #expect(request.results == nil)
    }

    @Test func picturesArePacked() throws {
        let image = CGImage(Bitmap(width: 2, height: 2, layout: .rgba))
        #expect(image.pixelFormatInfo == .packed && image.bitmapInfo.pixelFormat == .packed)
        var info = CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipFirst.rawValue)
        info.pixelFormat = .RGB101010
        #expect(info.rawValue == 6 | 3 << 16 && info.pixelFormat == .RGB101010)
        info.pixelFormat = .packed
        #expect(info.rawValue == 6)
        info.pixelFormat = .RGB555
        let space = CGColorSpaceCreateDeviceRGB()
        let provider = try #require(CGDataProvider(data: Data(count: 16) as CFData))
        func made(_ info: CGBitmapInfo) -> CGImage? {
            CGImage(
                width: 2,
                height: 2,
                bitsPerComponent: 8,
                bitsPerPixel: 32,
                bytesPerRow: 8,
                space: space,
                bitmapInfo: info,
                provider: provider,
                decode: nil,
                shouldInterpolate: true,
                intent: .defaultIntent
            )
        }
        #expect(made(info) == nil)
        #expect(made(CGBitmapInfo(rawValue: 6))?.pixelFormatInfo == .packed)
    }

    /// Boxes go back to the picture that they were found in, whatever was done to it.
    @Test(arguments: [
        Bitmap.Fitting.centerCrop, .scaleFit, .scaleFill, .scaleFitRotate90CCW, .scaleFillRotate90CCW,
    ])
    func boxesAreMappedBack(fitting: Bitmap.Fitting) throws {
        // A white rectangle, 40…70 × 20…30 of 100 × 60 pixels.
        var picture = Bitmap(width: 100, height: 60, layout: .gray)
        for y in 20..<30 { for x in 40..<70 { picture.pixels[y * 100 + x] = 255 } }
        let seen = picture.fitted(fitting, width: 400, height: 400)
        let lit = seen.pixels.indices.filter { seen.pixels[$0] > 127 }
        let columns = lit.map { $0 % 400 }
        let rows = lit.map { $0 / 400 }
        let found = CGRect(
            x: Double(try #require(columns.min())) / 400,
            y: Double(try #require(rows.min())) / 400,
            width: Double(try #require(columns.max()) + 1 - (try #require(columns.min()))) / 400,
            height: Double(try #require(rows.max()) + 1 - (try #require(rows.min()))) / 400
        )
        let box = Placement(fitting, aspect: 100.0 / 60, targetAspect: 1).original(found)
        #expect(abs(box.minX - 0.4) < 0.01 && abs(box.maxX - 0.7) < 0.01)
        #expect(abs(box.minY - 0.5) < 0.01 && abs(box.maxY - 2.0 / 3) < 0.01)
    }
}
