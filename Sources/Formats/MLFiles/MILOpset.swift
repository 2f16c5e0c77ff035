/// A version of the operation set of MIL: `CoreML5` came with iOS 15, `CoreML9` with iOS 26.
package struct MILOpset: Hashable, Sendable, Comparable {
    /// The number in the name: 5 for `CoreML5`.
    package let number: Int

    package init(number: Int) { self.number = number }

    /// Makes the opset from its name in specifications: `CoreML8`.
    package init?(_ name: String) {
        guard name.hasPrefix("CoreML"), let number = Int(name.dropFirst("CoreML".count)), number > 0 else {
            return nil
        }
        self.number = number
    }

    /// Makes the opset from its name in MIL text: `ios18`.
    package init?(textName: some StringProtocol) {
        guard let match = Self.textNames.first(where: { $0.value == textName }) else { return nil }
        number = match.key
    }

    package var name: String { "CoreML\(number)" }

    /// The name in MIL text; the name in specifications when there is none.
    package var textName: String { Self.textNames[number] ?? name }

    /// The specification version that a program of this opset needs.
    package var specificationVersion: Int32 { Int32(clamping: number + 1) }

    package static func < (a: MILOpset, b: MILOpset) -> Bool { a.number < b.number }

    private static let textNames = [3: "ios13", 4: "ios14", 5: "ios15", 6: "ios16", 7: "ios17", 8: "ios18", 9: "ios26"]
}
