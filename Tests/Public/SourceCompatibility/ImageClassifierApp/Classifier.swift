// Source in the style of an app that classifies photos with Vision.

import CoreGraphics
import CoreML
import CoreVideo
import Foundation
import ImageIO
import Vision

enum ClassificationError: Error {
    case noImage
    case noModel
}

@MainActor
final class ImagePredictor {
    struct Prediction: Sendable {
        let classification: String
        let confidencePercentage: String
    }

    typealias Handler = (_ predictions: [Prediction]?) -> Void

    private var handlers: [VNRequest: Handler] = [:]
    private let classifier: VNCoreMLModel

    init(modelURL: URL) throws {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuAndNeuralEngine
        let model = try MLModel(contentsOf: modelURL, configuration: configuration)
        classifier = try VNCoreMLModel(for: model)
    }

    private func makeRequest() -> VNImageBasedRequest {
        let request = VNCoreMLRequest(model: classifier)
        request.imageCropAndScaleOption = .centerCrop
        return request
    }

    func makePredictions(for photo: URL, completionHandler: @escaping Handler) throws {
        let options = [kCGImageSourceShouldCache: false] as CFDictionary
        guard let source = CGImageSourceCreateWithURL(photo as CFURL, options),
            let image = CGImageSourceCreateImageAtIndex(source, 0, nil)
        else { throw ClassificationError.noImage }
        let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any]
        let raw = properties?[kCGImagePropertyOrientation] as? UInt32 ?? 1
        let orientation = CGImagePropertyOrientation(rawValue: raw) ?? .up

        let request = makeRequest()
        handlers[request] = completionHandler
        let handler = VNImageRequestHandler(cgImage: image, orientation: orientation)
        try handler.perform([request])
        visionRequestHandler(request, error: nil)
    }

    private func visionRequestHandler(_ request: VNRequest, error: Error?) {
        guard let handler = handlers.removeValue(forKey: request) else { return }
        var predictions: [Prediction]?
        defer { handler(predictions) }
        if let error {
            print("Vision image classification error...\n\n\(error.localizedDescription)")
            return
        }
        guard let observations = request.results as? [VNClassificationObservation] else { return }
        predictions = observations.prefix(5).map {
            Prediction(
                classification: $0.identifier,
                confidencePercentage: String(format: "%2.1f", $0.confidence * 100)
            )
        }
    }
}

/// Without Vision: draws an image into a pixel buffer.
func pixelBuffer(from image: CGImage, width: Int, height: Int) -> CVPixelBuffer? {
    let attributes =
        [
            kCVPixelBufferCGImageCompatibilityKey: kCFBooleanTrue!,
            kCVPixelBufferCGBitmapContextCompatibilityKey: kCFBooleanTrue!,
        ] as CFDictionary
    var pixelBuffer: CVPixelBuffer?
    let status = CVPixelBufferCreate(
        kCFAllocatorDefault,
        width,
        height,
        kCVPixelFormatType_32ARGB,
        attributes,
        &pixelBuffer
    )
    guard status == kCVReturnSuccess, let buffer = pixelBuffer else { return nil }
    CVPixelBufferLockBaseAddress(buffer, CVPixelBufferLockFlags(rawValue: 0))
    defer { CVPixelBufferUnlockBaseAddress(buffer, CVPixelBufferLockFlags(rawValue: 0)) }
    guard
        let context = CGContext(
            data: CVPixelBufferGetBaseAddress(buffer),
            width: width,
            height: height,
            bitsPerComponent: 8,
            bytesPerRow: CVPixelBufferGetBytesPerRow(buffer),
            space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue
        )
    else { return nil }
    context.translateBy(x: 0, y: CGFloat(height))
    context.scaleBy(x: 1.0, y: -1.0)
    context.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
    return buffer
}

/// An actor that owns a model, for detection in the frames of a video.
actor Detector {
    private let request: VNCoreMLRequest

    init(model: MLModel) throws {
        request = VNCoreMLRequest(model: try VNCoreMLModel(for: model)) { request, _ in
            _ = request.results?.count
        }
        request.imageCropAndScaleOption = .scaleFill
    }

    func objects(in frame: CVPixelBuffer) throws -> [(label: String, box: CGRect)] {
        try VNImageRequestHandler(cvPixelBuffer: frame, orientation: .right, options: [:]).perform([request])
        let results = request.results as? [VNRecognizedObjectObservation] ?? []
        return results.compactMap { object in
            guard let best = object.labels.first, best.confidence > 0.5 else { return nil }
            return (best.identifier, VNImageRectForNormalizedRect(object.boundingBox, 640, 480))
        }
    }
}
