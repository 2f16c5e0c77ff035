import Foundation
import Testing

/// The contents of reports: of regressors, of candidates, with texts of every script and hostile ones.
struct ReportTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// A table whose target follows from the second column; names and categories are in several scripts.
    private func table(_ count: Int) -> String {
        let kinds = ["مدينة", "都市", "गाँव", "город", "πόλη", "ciudad"]
        let rows = (0..<count).map { index -> String in
            let size = Double(index * 37 % 101)
            let other = Double(index * 53 % 89)
            let price = 5 * size + Double(index * 7 % 11)
            return "\(other),\(size),\(kinds[index % kinds.count]),\(price),\(kinds[(index / 3) % kinds.count])"
        }
        return "عدد,面積,kind,Preis €,label\n" + rows.joined(separator: "\n") + "\n"
    }

    @Test func aRegressorIsReportedWhole() throws {
        let data = try folder.write(table(300), "houses.csv")
        let model = folder.path("Houses.mlmodel")
        let start = ["train", "tabular", data, "--target", "Preis €", "-o", model]
        for ending in ["html", "png", "svg", "pdf"] {
            let file = folder.path("report.\(ending)")
            let run = try coreml(
                arguments: start + ["--algorithm", "linear", "--validation-share", "0.3", "--report", file]
            )
            #expect(run.status == 0, "\(run.errors)")
            for part in [
                "root mean squared error", "mean absolute error", "maximum error", "R²", "predicted (up) against true",
                "residuals (true − predicted)", "permutation importance (validation)", "面積",
            ] {
                #expect(run.output.contains(part), "\(part) is not in \(run.output)")
            }
        }
        let page = String(decoding: try folder.data("report.html"), as: UTF8.self)
        for part in [
            "predicted against true", "residuals against predicted", "distribution of the residuals",
            "permutation importance",
        ] {
            #expect(page.contains(#"alt="\#(part)""#), "\(part) is not in the page")
        }
        let extents = try CommandFolder.extents(ofPNG: folder.data("report.png"))
        #expect(extents.width == 2000 && extents.height > 1500)

        let run = try coreml(arguments: start + ["--algorithm", "linear", "--json"])
        let trained = try CommandFolder.last(run)
        let evaluated = try CommandFolder.object(try coreml("evaluate", model, data, "--json").output)
        for (object, key) in [(trained, "validation"), (evaluated, "scores")] {
            let scores = try #require(object[key] as? [String: Double])
            #expect(Set(scores.keys).isSuperset(of: ["meanAbsoluteError", "rootMeanSquaredError", "maximumError"]))
            #expect(try #require(scores["determination"]) > 0.9)
            let importance = try #require(object["importance"] as? [String: Any])
            let features = try #require(importance["features"] as? [[String: Any]])
            #expect(features.first?["feature"] as? String == "面積", "the column that the target follows from")
            let residuals = try #require(object["residuals"] as? [String: Any])
            let histogram = try #require(residuals["histogram"] as? [String: Any])
            let counts = try #require(histogram["counts"] as? [Int])
            #expect(counts.reduce(0, +) == residuals["count"] as? Int)
            #expect((histogram["edges"] as? [Double])?.count == counts.count + 1)
        }
        #expect((evaluated["residuals"] as? [String: Any])?["count"] as? Int == 300)
    }

    @Test func whatWasTriedIsListed() throws {
        let data = try folder.write(table(200), "houses.csv")
        let model = folder.path("Houses.mlmodel")
        let run = try coreml("train", "tabular", data, "--target", "Preis €", "-o", model)
        #expect(run.output.contains("algorithms tried") && run.output.contains("chosen"), "\(run.errors)")
        for (target, key) in [("Preis €", "rootMeanSquaredError"), ("label", "accuracy")] {
            let last = try CommandFolder.last(
                try coreml("train", "tabular", data, "--target", target, "--json", "-o", model)
            )
            let tried = try #require(last["tried"] as? [[String: Any]])
            #expect(tried.count > 1)
            #expect(tried.filter { $0["chosen"] as? Bool == true }.count == 1)
            let scores = tried.compactMap { $0[key] as? Double }
            #expect(scores.count == tried.count, "each has a score: \(tried)")
            let name = try #require(tried.first { $0["chosen"] as? Bool == true }?["algorithm"] as? String)
            #expect(try #require(last["algorithm"] as? String).hasPrefix(name))
        }
    }

    /// Names with control characters, markup, other directions and thousands of characters end in every form of report.
    @Test func hostileNamesAreDrawn() throws {
        let long = String(repeating: "endless漢字 ", count: 1000)
        let names = [
            "<script>alert(1)</script>", "a\u{1}b\u{7}", "\u{202E}reversed", "&amp; \" '", long, "e\u{301}\u{302}",
        ]
        let rows = (0..<120).map { index in
            let name = names[index % names.count].replacingOccurrences(of: "\"", with: "\"\"")
            return "\(index % names.count),\(index % 7),\"\(name)\""
        }
        let data = try folder.write("<b>x\u{1},y,label\n" + rows.joined(separator: "\n") + "\n", "names.csv")
        for ending in ["html", "png", "svg", "pdf"] {
            let run = try coreml(
                arguments: [
                    "train", "tabular", data, "--target", "label", "--algorithm", "decision-tree", "-o",
                    folder.path("Names.mlmodel"), "--report", folder.path("names.\(ending)"),
                ]
            )
            #expect(run.status == 0, "\(ending): \(run.errors)")
        }
        let page = String(decoding: try folder.data("names.html"), as: UTF8.self)
        #expect(page.contains("&lt;script&gt;") && !page.contains("<script>"))
        #expect(!page.unicodeScalars.contains("\u{1}"))
        #expect(try CommandFolder.extents(ofPNG: folder.data("names.png")).width == 2000)
    }

    /// Hundreds of classes are a matrix without names and a list of mistakes.
    @Test func manyClassesAreDrawn() throws {
        let rows = (0..<1200).map { "\($0 % 300),\($0 % 7),class \($0 % 300)" }
        let data = try folder.write("x,y,label\n" + rows.joined(separator: "\n") + "\n", "many.csv")
        for ending in ["html", "png"] {
            let run = try coreml(
                arguments: [
                    "train", "tabular", data, "--target", "label", "--algorithm", "decision-tree", "--validation-share",
                    "0.2", "-o", folder.path("Many.mlmodel"), "--report", folder.path("many.\(ending)"),
                ]
            )
            #expect(run.status == 0, "\(run.errors)")
        }
        let page = String(decoding: try folder.data("many.html"), as: UTF8.self)
        #expect(page.contains(#"alt="confusion matrix""#) && page.contains("Most frequent mistakes"))
        #expect(page.utf8.count < 3_000_000)
    }

    /// A machine without fonts has boxes for letters, and a report.
    @Test func reportsNeedNoFonts() throws {
        let fonts = try folder.write(
            "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig></fontconfig>",
            "fonts.conf"
        )
        let data = try folder.write(table(100), "houses.csv")
        let run = try coreml(
            arguments: [
                "train", "tabular", data, "--target", "Preis €", "--algorithm", "linear", "-o",
                folder.path("Houses.mlmodel"), "--report", folder.path("report.png"),
            ],
            environment: ["FONTCONFIG_FILE": fonts]
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandFolder.extents(ofPNG: folder.data("report.png")).width == 2000)
    }
}
