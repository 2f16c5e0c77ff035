import Foundation
import ImageIO
import MLExtractors
import MLImages
import MLPoses

/// PoseRunner hands|bodies FILE…: a line of JSON for each picture: what is found in it, with joints in fractions from the top left.
struct Found: Encodable {
    var file: String
    /// The joints of each hand or body: x, y, confidence.
    var found: [[[Double]]]
    /// How certain each hand is a right one.
    var rightness: [Double]
}

let arguments = CommandLine.arguments
guard arguments.count > 2, ["hands", "bodies"].contains(arguments[1]) else {
    FileHandle.standardError.write(Data("PoseRunner hands|bodies FILE…\n".utf8))
    exit(64)
}
for path in arguments.dropFirst(2) {
    let file = try ImageFile(Data(contentsOf: URL(fileURLWithPath: path)))
    let picture = try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
    func numbers(_ joints: [Joint]) -> [[Double]] { joints.map { [$0.x, $0.y, $0.confidence] } }
    var found = Found(file: path, found: [], rightness: [])
    if arguments[1] == "hands" {
        let hands = try PoseFinders.hands().hands(in: picture, atMost: 2)
        found.found = hands.map { numbers($0.joints) }
        found.rightness = hands.map(\.rightHandConfidence)
    } else {
        found.found = try PoseFinders.bodies().bodies(in: picture, atMost: 4).map { numbers($0.points) }
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(found) + Data("\n".utf8))
}
