import MLNumerics
import Testing

import MLDrawing

struct CanvasTests {
    /// A text in several scripts and directions, with the fonts of `scripts/setup`.
    @Test(arguments: [
        "naïve café Ångström", "Ωμέγα", "Цена", "Tiếng Việt", "漢字かなカナ", "简体 繁體", "한국어", "السعر بالدينار", "מחיר",
        "हिन्दी क्षेत्र", "বাংলা", "தமிழ்", "ไทย", "ქართული", "Հայերեն", "አማርኛ", "😀 🏠 👩‍🚀 🇩🇪", "✓ → × ≤ ∑",
    ])
    func everyScriptHasLetters(text: String) throws {
        let canvas = try Canvas(width: 10, height: 10, form: .png)
        #expect(canvas.missingCount(text) == 0, "boxes in \(text): are the fonts of scripts/setup installed?")
        #expect(canvas.width(text, size: 12) > 10)
    }

    /// Different letters leave different ink, and what no font has is counted.
    @Test func lettersDiffer() throws {
        var seen: Set<[UInt8]> = []
        for letter in ["e", "é", "è", "Ω", "Ж", "漢", "字", "한", "ع", "क", "😀", "🏠"] {
            let canvas = try Canvas(width: 40, height: 40, form: .png)
            canvas.write(letter, x: 5, y: 30, size: 24)
            seen.insert(try canvas.bytes())
        }
        #expect(seen.count == 12)
        let canvas = try Canvas(width: 10, height: 10, form: .png)
        #expect(canvas.missingCount("a\u{F0000}b") == 1)
    }

    /// Letters of right-to-left scripts join and change their order, so two are no sum of one and one.
    @Test func textIsShaped() throws {
        let canvas = try Canvas(width: 10, height: 10, form: .png)
        func width(_ text: String) -> Double { canvas.width(text, size: 100) }
        #expect(abs(width("بب") - 2 * width("ب")) > 5, "the letters join")
        #expect(abs(width("क्ष") - width("क") - width("्") - width("ष")) > 5, "consonants become a conjunct")
        #expect(width("👩‍🚀") < 1.5 * width("😀"), "a sequence of pictograms is one")
    }

    /// Text that is too long for its box is cut; no text breaks a page.
    @Test func hostileTextsStayInTheirRoom() throws {
        let long = String(repeating: "wide漢字 ", count: 2000)
        let piled = "e" + String(repeating: "\u{301}", count: 500)
        let hostile = [
            long, piled, "", "\0", "a\0b", "line\nbreak\r\n\u{2028}\t", "<b>&amp;</b>", "\u{202E}txet", "\u{1B}[31m",
            "\u{200F}\u{200E}\u{2067}", "\u{FFFE}\u{FFFF}", String(repeating: "👩‍👩‍👧‍👦", count: 500), "%s%n",
        ]
        for text in hostile {
            for form in [Canvas.Form.png, .svg, .pdf] {
                let canvas = try Canvas(width: 200, height: 40, form: form)
                canvas.write(text, x: 10, y: 25, size: 12, width: 100)
                canvas.write(text, x: 190, y: 25, alignment: .right, width: 60, ellipsis: .middle, isUpright: true)
                #expect(try canvas.bytes().count > 100)
            }
        }
        #expect(Canvas.oneLine(long).unicodeScalars.count <= 1001)
        #expect(Canvas.oneLine("a\nb\0c") == "a b c")
        // Nothing is written beyond the room.
        let limited = try Canvas(width: 400, height: 40, form: .png)
        limited.write(long, x: 0, y: 25, size: 12, width: 100)
        let narrow = try Canvas(width: 400, height: 40, form: .png)
        narrow.write(long, x: 0, y: 25, size: 12, width: 100)
        narrow.fill(x: 102, y: 0, width: 298, height: 40, .white)
        #expect(try limited.bytes() == narrow.bytes())
    }

    @Test func eachFormIsWritten() throws {
        for (form, start) in [(Canvas.Form.png, "\u{89}PNG"), (.svg, "<?xml"), (.pdf, "%PDF")] {
            let canvas = try Canvas(width: 100, height: 50, form: form)
            canvas.fill(x: 10, y: 10, width: 20, height: 20, .blue)
            canvas.stroke([Canvas.Point(0, 0), Canvas.Point(100, 50)], width: 2, .vermilion)
            canvas.dot([Canvas.Point(50, 25), Canvas.Point(.nan, 3)], width: 4, .green)
            canvas.write("text", x: 50, y: 25, alignment: .centre)
            #expect(try canvas.bytes().starts(with: Array(start.unicodeScalars.map { UInt8($0.value) })))
        }
        let large = try Canvas(width: 100_000, height: 100_000, form: .png)
        #expect(throws: ModelError.self) { try large.bytes() }
    }
}
