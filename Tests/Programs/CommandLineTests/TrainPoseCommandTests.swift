import Foundation
import Testing

/// `coreml train hand-pose` on key points.
struct TrainPoseCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// Hands that are tall or wide: 21 joints on an ellipse, x, y and confidence after each other.
    private func keypoints(count: Int) throws -> Data {
        var state: UInt64 = 5
        func random() -> Double {
            state = state &* 48271 % 2_147_483_647
            return Double(state) / 2_147_483_647
        }
        let rows = (0..<count).map { number -> [String: Any] in
            let isTall = number % 2 == 0
            let (left, top, size) = (0.4 + 0.2 * random(), 0.4 + 0.2 * random(), 0.1 + 0.1 * random())
            let angles = (0..<21).map { 0.3 * Double($0) }
            let x = angles.map { left + size * (isTall ? 0.3 : 1) * cos($0) + 0.01 * random() }
            let y = angles.map { top + size * (isTall ? 1 : 0.3) * sin($0) + 0.01 * random() }
            return [
                "session_id": "s\(number)", "label": isTall ? "tall" : "wide",
                "keypoints": x + y + [Double](repeating: 1, count: 21),
            ]
        }
        return try JSONSerialization.data(withJSONObject: rows, options: [.sortedKeys])
    }

    @Test func posesAreAlsoLearntTurned() throws {
        let data = try folder.write(keypoints(count: 24), "hands.json")
        func trained(_ name: String, _ options: [String]) throws -> Data {
            let model = folder.path("\(name).mlmodel")
            let arguments = ["train", "hand-pose", data, "-o", model, "--iterations", "6", "--validation-share", "0"]
            let run = try coreml(arguments: arguments + options)
            try #require(run.status == 0, "\(run.errors)")
            return try folder.data("\(name).mlmodel")
        }
        let usual = try trained("usual", [])
        #expect(try trained("turned", ["--augment", "rotate"]) == usual)
        #expect(try trained("plain", ["--augment", "none"]) != usual)
    }

    @Test func wrongOptions() throws {
        let data = try folder.write(keypoints(count: 4), "hands.json")
        let command = ["train", "hand-pose", data, "--augment"]
        try CommandFolder.expectFailures([
            (command + ["none", "--augment", "flip"], 64, "goes with no other --augment"),
            (command + ["magic"], 64, "magic"),
        ])
    }
}
