import MLTrainingCore
import Testing

/// Checkpoints keep fingerprints: the values are those of the definitions that wrote the first ones, computed apart.
@Suite struct FingerprintTests {
    private static let bytes = [UInt8](1...21)

    @Test(
        arguments: [
            (Fingerprint.Method.fnv1a, 0xCBF2_9CE4_8422_2325, 0xC54C_DD1F_C41C_E43C),
            (.fnv1aWords, 0xCBF2_9CE4_8422_2325, 0x79E6_C4E7_A2AB_AF73),
            (.splitMix, 0x0000_5357_5445_5854, 0x2C4F_D15F_F058_E80A),
            (.wideProduct, 0xE220_A839_7B1D_CDAF, 0x7AE7_2369_9BE2_B8E0),
        ] as [(Fingerprint.Method, UInt64, UInt64)]
    )
    func numbersKeepTheirValues(method: Fingerprint.Method, empty: UInt64, full: UInt64) {
        #expect(Fingerprint(method).value == empty)
        var print = Fingerprint(method)
        print.add(7)
        print.add(-3)
        print.add(2.5)
        #expect(print.value == full)
        // One by one, or as arrays.
        var numbers = Fingerprint(method)
        numbers.add([7, -3] as [Int])
        numbers.add([2.5] as [Double])
        #expect(numbers.value == full)
        var words = Fingerprint(method)
        words.add([7, UInt64(bitPattern: -3), (2.5).bitPattern])
        #expect(words.value == full)
    }

    @Test func bytesOfUpdatesKeepTheirValues() {
        #expect(Fingerprint.of(Self.bytes, .fnv1a) == 0xD6A1_63D2_65B8_EC54)
        var text = Fingerprint(.fnv1a)
        text.add("naïve")
        #expect(text.value == 0x8634_BE44_94F2_8A4D)
        var sum = Fingerprint(.fnv1a)
        sum.add(each: Self.bytes)
        #expect(sum.value == 0xBA79_B0B4_E91A_B1C8)
        // The published value of FNV-1a.
        var letter = Fingerprint(.fnv1a)
        letter.add(each: Array("a".utf8))
        #expect(letter.value == 0xAF63_DC4C_8601_EC8C)
    }

    @Test func bytesOfSessionsKeepTheirValues() {
        #expect(Fingerprint.of(Self.bytes, .wideProduct) == 0xA233_51DB_FB6C_A183)
        #expect(Fingerprint.of([], .wideProduct) == 0x5F7E_61F5_46A3_935D)
        var text = Fingerprint(.wideProduct)
        text.add("naïve")
        #expect(text.value == 0x3801_A943_326F_0C7E)
    }

    /// The order counts, and so do the borders between texts, zeros, and every bit.
    @Test(arguments: [Fingerprint.Method.fnv1a, .fnv1aWords, .splitMix, .wideProduct])
    func differentDataDiffer(method: Fingerprint.Method) {
        func of(_ texts: String...) -> UInt64 {
            var print = Fingerprint(method)
            for text in texts { print.add(text) }
            return print.value
        }
        let texts = [of(), of(""), of("", ""), of("ab", "c"), of("a", "bc"), of("abc"), of("abc", ""), of("cab")]
        #expect(Set(texts).count == texts.count)
        var seen: Set<UInt64> = []
        for bit in 0..<64 {
            var print = Fingerprint(method)
            print.add(1 << UInt64(bit) as UInt64)
            seen.insert(print.value)
        }
        #expect(seen.count == 64)
        var lengths: Set<UInt64> = []
        for length in 0..<40 { lengths.insert(Fingerprint.of([UInt8](repeating: 0, count: length), method)) }
        #expect(lengths.count == 40)
    }
}
