import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import TestSupport
import Testing

import MLPoses

@Suite struct PoseFinderTests {
    /// A picture of one colour.
    private func picture(_ width: Int, _ height: Int, red: UInt8, others: UInt8 = 255) -> Bitmap {
        let pixels = [UInt8]((0..<width * height).map { _ in [red, others, others, 255] }.joined())
        return Bitmap(width: width, height: height, layout: .rgba, pixels: pixels)
    }

    private func withStore(_ body: (ExtractorStore) throws -> Void) throws {
        let folder = try FileAccess.makeTemporaryFolder("poses")
        defer { try? FileAccess.remove(folder) }
        try body(ExtractorStore(folder: folder))
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return "\(error)" }
    }

    @Test func `Joints are placed back into the picture`() throws {
        try withStore { store in
            try PoseNetworks.installHands(in: store)
            let finder = try PoseFinders.hands(store)
            for (width, height) in [(384, 384), (400, 240)] {
                // Black bars above and below, which the detector sees, count for its brightness.
                let hands = try finder.hands(in: picture(width, height, red: 255), atMost: 2)
                let hand = try #require(hands.first)
                #expect(hands.count == 1 && hand.joints.count == 21)
                #expect(abs(hand.confidence - 0.9) < 1e-5 && abs(hand.rightHandConfidence - 0.8) < 1e-5)
                let palm = 0.25 * Double(max(width, height))
                let centre = (Double(width) / 2, Double(height) / 2 - palm / 2)
                for (index, joint) in hand.joints.enumerated() {
                    let offset = PoseNetworks.offset(index)
                    let x = centre.0 + (offset.x + PoseNetworks.move(index)) * 2.6 * palm
                    let y = centre.1 + offset.y * 2.6 * palm
                    #expect(abs(joint.x * Double(width) - x) < 0.1 && abs(joint.y * Double(height) - y) < 0.1)
                }
            }
        }
    }

    @Test func `Hands may point anywhere`() throws {
        try withStore { store in
            try PoseNetworks.installHands(in: store, isTurned: true)
            let hands = try PoseFinders.hands(store).hands(in: picture(400, 400, red: 255), atMost: 1)
            let joints = try #require(hands.first?.joints)
            // The square's upward direction is the picture's right, its right the picture's down.
            for (index, joint) in joints.enumerated() {
                let offset = PoseNetworks.offset(index)
                #expect(abs(joint.x - (0.5 + 0.125 - offset.y * 0.65)) < 1e-3)
                #expect(abs(joint.y - (0.5 + (offset.x + PoseNetworks.move(index)) * 0.65)) < 1e-3)
            }
        }
    }

    @Test func `Pictures without a hand have none`() throws {
        try withStore { store in
            try PoseNetworks.installHands(in: store)
            let finder = try PoseFinders.hands(store)
            #expect(try finder.hands(in: picture(100, 80, red: 20), atMost: 2).isEmpty)
            #expect(try finder.hands(in: picture(100, 100, red: 255), atMost: 0).isEmpty)
            #expect(try finder.hands(in: Bitmap(width: 0, height: 0, layout: .gray), atMost: 2).isEmpty)
            // A narrow bright picture is dark with the detector's bars, and is found when its edges are continued.
            #expect(try finder.hands(in: picture(400, 40, red: 255), atMost: 2).count == 1)
            var tracker = HandTracker(finder)
            #expect(try tracker.next(picture(50, 50, red: 0)) == nil)
            #expect(try tracker.next(picture(50, 50, red: 255)) != nil)
        }
    }

    @Test func `Bodies are found and followed`() throws {
        try withStore { store in
            try PoseNetworks.installBodies(in: store)
            let finder = try PoseFinders.bodies(store)
            let bright = picture(300, 300, red: 255)
            let body = try #require(try finder.bodies(in: bright, atMost: 3).first)
            #expect(body.points.count == 33 && body.values.count == 54)
            // The distance from the hips to the end is 0.2, the square's side 2.5 times that.
            let point = body.points[8]
            #expect(abs(point.x - (0.5 + PoseNetworks.offset(8).x * 0.5)) < 1e-3)
            #expect(abs(point.y - (0.5 + PoseNetworks.offset(8).y * 0.5)) < 1e-3)
            #expect(point.confidence > 0.95)
            let neck = body.joint([11, 12])
            #expect(abs(neck.x - (body.points[11].x + body.points[12].x) / 2) < 1e-9)
            var tracker = BodyTracker(finder)
            #expect(try tracker.next(picture(300, 300, red: 0)) == nil)
            #expect(try tracker.next(bright) == body)
            // The square of the next picture is around the same place, even where the detector would find nobody.
            let next = try #require(try tracker.next(picture(300, 300, red: 0)))
            #expect(abs(next.square.x - 150) < 1 && abs(next.square.side - 2.5 * 0.4 * 150) < 1)
        }
    }

    @Test func `What is missing or damaged is named`() throws {
        try withStore { store in
            #expect(
                message { _ = try PoseFinders.hands(store) }
                    .contains("is not installed; run: coreml extractor install mediapipe-hands")
            )
            #expect(message { _ = try PoseFinders.bodies(store) }.contains("coreml extractor install mediapipe-body"))
            try PoseNetworks.installHands(in: store, joints: 20)
            #expect(
                message { _ = try PoseFinders.hands(store).hands(in: picture(90, 90, red: 255), atMost: 1) }
                    .contains("does not give 63 numbers 'landmarks'")
            )
        }
    }

    @Test func `Turned squares are cut out of pictures`() {
        var picture = Bitmap(width: 4, height: 4, layout: .gray)
        for index in 0..<16 { picture.pixels[index] = UInt8(index * 10) }
        let whole = Bitmap.Square(x: 2, y: 2, side: 4)
        #expect(picture.square(whole, size: 4, border: .zeros) == picture)
        // A quarter turn clockwise: the square's rows are the picture's columns from right to left.
        let turned = picture.square(.init(x: 2, y: 2, side: 4, rotation: .pi / 2), size: 4, border: .nearest)
        #expect(Array(turned.pixels[4..<8]) == [30, 70, 110, 150])
        let wide = Bitmap.Square(x: 2, y: 2, side: 8)
        #expect(picture.square(wide, size: 8, border: .zeros).pixels[0] == 0)
        #expect(picture.square(wide, size: 8, border: .nearest).pixels[63] == 150)
        // Positions are rounded to 1/32 pixel, here 0.34 to 11/32, and 0.5 is rounded up.
        var pair = Bitmap(width: 2, height: 1, layout: .gray)
        pair.pixels = [0, 255]
        #expect(pair.square(.init(x: 0.84, y: 0.5, side: 1), size: 1, border: .nearest).pixels == [88])
        pair.pixels = [0, 1]
        #expect(pair.square(.init(x: 1, y: 0.5, side: 1), size: 1, border: .nearest).pixels == [1])
        let far = Bitmap.Square(x: 1e300, y: -1e300, side: 1e200)
        #expect(picture.square(far, size: 2, border: .zeros).pixels == [0, 0, 0, 0])
    }

    @Test func `A person's square is steadied at rest and follows movements`() {
        var filter = SquareFilter()
        let start = Bitmap.Square(x: 100, y: 80, side: 50)
        #expect(filter.next(start).x == 100)
        // Trembling by half a pixel is damped.
        var steps: [Double] = []
        var last = 100.0
        for index in 0..<40 {
            let found = filter.next(.init(x: 100 + (index % 2 == 0 ? 0.5 : -0.5), y: 80, side: 50))
            steps.append(abs(found.x - last))
            last = found.x
        }
        #expect(steps.suffix(20).reduce(0, +) / 20 < 0.2)
        // A walk of 5 pixels a frame is followed.
        for index in 1...30 { last = filter.next(.init(x: 100 + 5 * Double(index), y: 80, side: 50)).x }
        #expect(abs(last - 250) < 3)
    }
}
