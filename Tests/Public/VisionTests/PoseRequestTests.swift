import CoreML
import Foundation
import MLExtractors
import MLFiles
import MLImages
import TestSupport
import Testing
import Vision

/// Requests for hands and bodies, with small networks in the place of the real ones.
@Suite struct PoseRequestTests {
    private func withNetworks(_ body: (ExtractorStore) throws -> Void) throws {
        let folder = try FileAccess.makeTemporaryFolder("pose-requests")
        defer { try? FileAccess.remove(folder) }
        let store = ExtractorStore(folder: folder)
        try ExtractorStore.$replacement.withValue(store) {
            try PoseNetworks.installHands(in: store)
            try PoseNetworks.installBodies(in: store)
            try body(store)
        }
    }

    /// A white picture, or one that is dark in its left half.
    private func handler(width: Int = 60, height: Int = 60, isHalfDark: Bool = false) throws -> VNImageRequestHandler {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_32BGRA, nil, &buffer)
        let made = try #require(buffer)
        CVPixelBufferLockBaseAddress(made, [])
        let base = try #require(CVPixelBufferGetBaseAddress(made))
        for row in 0..<height {
            for column in 0..<width {
                let value: UInt8 = isHalfDark && column < width / 2 ? 0 : 255
                for component in 0..<4 {
                    base.storeBytes(
                        of: component == 3 ? 255 : value,
                        toByteOffset: row * CVPixelBufferGetBytesPerRow(made) + 4 * column + component,
                        as: UInt8.self
                    )
                }
            }
        }
        CVPixelBufferUnlockBaseAddress(made, [])
        return VNImageRequestHandler(cvPixelBuffer: made)
    }

    @Test func `Hands have named joints`() throws {
        try withNetworks { _ in
            let request = VNDetectHumanHandPoseRequest()
            #expect(request.results == nil && request.maximumHandCount == 2)
            try handler().perform([request])
            let hand = try #require(request.results?.first)
            #expect(request.results?.count == 1 && hand.chirality == .right && abs(hand.confidence - 0.9) < 1e-5)
            let tip = try hand.recognizedPoint(.indexTip)
            #expect(abs(tip.x - (0.5 + PoseNetworks.offset(8).x * 0.65)) < 0.01)
            #expect(abs(tip.y - (1 - (0.375 + PoseNetworks.offset(8).y * 0.65))) < 0.01)
            #expect(tip.identifier.rawValue == "VNHLKITIP" && abs(tip.confidence - 0.9) < 1e-5)
            #expect(try hand.recognizedPoints(.all).count == 21 && hand.recognizedPoints(.thumb).count == 4)
            #expect(hand.availableJointNames.count == 21 && hand.availableJointsGroupNames.count == 6)
            #expect(try request.supportedJointNames().first == .wrist)
            let array = try hand.keypointsMultiArray()
            #expect(array.shape == [1, 3, 21] && abs(array[8].doubleValue - tip.x) < 1e-5)
            #expect(throws: VNError.self) { try hand.recognizedPoint(forKey: .init(rawValue: "root")) }
            // The same observations without their type.
            #expect((request as VNRequest).results?.first === hand)
        }
    }

    @Test func `Bodies have named joints`() throws {
        try withNetworks { _ in
            var completed = false
            let request = VNDetectHumanBodyPoseRequest { request, error in completed = error == nil }
            try handler().perform([request])
            let body = try #require(request.results?.first)
            #expect(completed && body.availableJointNames.count == 19)
            let (left, right) = (try body.recognizedPoint(.leftShoulder), try body.recognizedPoint(.rightShoulder))
            let neck = try body.recognizedPoint(.neck)
            #expect(abs(neck.x - (left.x + right.x) / 2) < 1e-9 && abs(neck.y - (left.y + right.y) / 2) < 1e-9)
            #expect(try body.recognizedPoints(.all).count == 19 && body.recognizedPoints(.leftArm).count == 3)
            #expect(try body.keypointsMultiArray().shape == [1, 3, 18])
            #expect(abs(left.distance(right) - neck.distance(left) * 2) < 1e-9)
        }
    }

    @Test func `Requests look at a part`() throws {
        try withNetworks { _ in
            let request = VNDetectHumanHandPoseRequest()
            request.regionOfInterest = CGRect(x: 0, y: 0, width: 0.5, height: 1)
            try handler(width: 120, isHalfDark: true).perform([request])
            #expect(request.results?.isEmpty == true)
            request.regionOfInterest = CGRect(x: 0.5, y: 0, width: 0.5, height: 1)
            try handler(width: 120, isHalfDark: true).perform([request])
            #expect(request.results?.count == 1)
            request.regionOfInterest = CGRect(x: 0.5, y: 0, width: 2, height: 1)
            #expect(throws: VNError.self) { try handler().perform([request]) }
            #expect(request.results == nil)
        }
    }

    @Test func `Mistakes are named`() throws {
        try withNetworks { store in
            let request = VNDetectHumanHandPoseRequest()
            request.maximumHandCount = 0
            #expect(throws: VNError.self) { try handler().perform([request]) }
            request.revision = 7
            #expect(throws: VNError.self) { try request.supportedJointNames() }
            ExtractorStore.$replacement.withValue(ExtractorStore(folder: store.folder + "/none")) {
                do {
                    try handler().perform([VNDetectHumanBodyPoseRequest()])
                    Issue.record("there are no networks")
                } catch {
                    #expect("\(error)".contains("run: coreml extractor install mediapipe-body"))
                }
            }
        }
    }
}
