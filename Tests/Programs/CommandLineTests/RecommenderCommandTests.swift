import Foundation
import Testing

/// `coreml train recommender` and `coreml evaluate` of recommenders.
struct RecommenderCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// Users of three tastes, who choose five of the six items of their taste: the ones before, and one later.
    private func choices() throws -> (earlier: String, later: String) {
        let head = "customer,product,stars\n"
        var (earlier, later) = (head, head)
        for user in 0..<30 {
            let taste = ["tea", "ink", "bolt"][user % 3]
            let left = user / 3 % 6
            for number in 1..<6 {
                let item = (left + number) % 6
                let row = "u\(user),\(taste)\(item),\(1 + (user + number) % 5)\n"
                if number == 5 { later += row } else { earlier += row }
            }
        }
        return (try folder.write(earlier, "earlier.csv"), try folder.write(later, "later.csv"))
    }

    private let columns = ["--user", "customer", "--item", "product"]

    @Test func aRecommenderIsTrainedReportedEvaluatedAndAsked() throws {
        let (earlier, later) = try choices()
        let (model, page) = (folder.path("Shop.mlmodel"), folder.path("shop.html"))
        let options = ["--rating", "stars", "--cutoffs", "1,2,5"]
        let run = try coreml(
            arguments: [
                "train", "recommender", earlier, "--validation", later, "-o", model, "--report", page, "--json",
            ]
                + columns + options
        )
        #expect(run.status == 0, "\(run.errors)")
        let facts = try CommandFolder.last(run)
        #expect(facts["users"] as? Int == 30 && facts["items"] as? Int == 18 && facts["rows"] as? Int == 120)
        let scores = try #require(facts["validation"] as? [String: Double])
        #expect(scores.count == 6)
        // Two items of a taste are left to recommend, of which one is chosen.
        #expect(try #require(scores["recallAt2"]) == 1)
        #expect(try #require(scores["precisionAt2"]) == 0.5)
        #expect(String(decoding: try folder.data("shop.html"), as: UTF8.self).contains("precision at 2"))

        // The model alone, told what users chose before, recommends the same.
        let evaluation = try coreml(
            arguments: ["evaluate", model, later, "--observed", earlier, "--json"] + columns + options
        )
        #expect(evaluation.status == 0, "\(evaluation.errors)")
        let figures = try CommandFolder.last(evaluation)
        #expect(figures["scores"] as? [String: Double] == scores && figures["rows"] as? Int == 30)
        let text = try coreml(arguments: ["evaluate", model, later, "--observed", earlier] + columns)
        #expect(text.output.contains("recall at 5") && text.output.contains("users: 30"), "\(text.errors)")
        let answer = try coreml("predict", model, "-i", "items={\"tea0\": 1, \"tea1\": 1}", "-i", "k=1", "--json")
        #expect(answer.output.contains("tea"), "\(answer.errors)")
    }

    @Test func rowsAreSetAsideOrNot() throws {
        let (earlier, _) = try choices()
        func train(_ options: String...) throws -> [String: Any] {
            let run = try coreml(
                arguments: ["train", "recommender", earlier, "-o", folder.path("M.mlmodel"), "--json"] + columns
                    + options
            )
            #expect(run.status == 0, "\(run.errors)")
            return try CommandFolder.last(run)
        }
        #expect(try train("--validation-share", "0")["validation"] == nil)
        let shared = try train("--validation-share", "0.25", "--seed", "3", "--similarity", "jaccard")
        #expect((shared["validation"] as? [String: Double])?.count == 10)
        #expect(shared["similarity"] as? String == "jaccard")
        #expect(
            (try train()["validation"] as? [String: Double])?["recallAt5"] != nil,
            "120 rows are enough for a tenth"
        )
    }

    @Test func itemsMayBeNumbers() throws {
        let rows = (0..<40).map { "\($0 % 8),\(100 + $0 % 5 + $0 % 2 * 10)\n" }.joined()
        let data = try folder.write("user,item\n" + rows, "numbers.csv")
        let model = folder.path("N.mlpackage")
        #expect(try coreml("train", "recommender", data, "-o", model, "--validation-share", "0").status == 0)
        let run = try coreml("evaluate", model, data, "--observed", data, "--cutoffs", "3", "--json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            (try CommandFolder.last(run)["scores"] as? [String: Double])?["recallAt3"] == 0,
            "what was chosen is known"
        )
    }

    @Test func mistakesAreNamed() throws {
        let (earlier, later) = try choices()
        let model = folder.path("M.mlmodel")
        #expect(try coreml(arguments: ["train", "recommender", earlier, "-o", model] + columns).status == 0)
        let start = ["train", "recommender", earlier]
        try CommandFolder.expectFailures([
            (start, 1, "no column 'user'; its columns are customer, product, stars; name the column with --user"),
            (start + columns + ["--rating", "price"], 1, "name the column with --rating"),
            (start + columns + ["--rating", "product"], 1, "it must hold numbers"),
            (start + columns + ["--similarity", "pearson"], 64, "--rating"),
            (start + columns + ["--cutoffs", "0,1"], 64, "cutoffs"),
            (start + columns + ["--resume", "state"], 64, "--resume"),
            (["evaluate", model, later] + columns, 1, "--observed"),
            (["evaluate", model, later, "--observed", earlier], 1, "--user"),
            (["evaluate", model, later, "--text", "x"], 1, "--text does not apply"),
        ])
    }
}
