import MLFeatures
import MLTrainingCore
import Testing

@Suite struct ClassLabelsTests {
    @Test func labelsAreSortedOnce() {
        let texts = ClassLabels(sorting: ["pear", "apple", "pear", "Apple"])
        #expect(texts.list == .strings(["Apple", "apple", "pear"]) && texts.count == 3)
        #expect(texts.index(of: "pear") == 2 && texts.index(of: "plum") == nil)
        // A number is no string.
        #expect(texts.index(of: 2) == nil)
        let integers = ClassLabels(sorting: [30, -4, 30, 7])
        #expect(integers.list == .integers([-4, 7, 30]) && integers.texts == ["-4", "7", "30"])
        #expect(integers.index(of: 30) == 2 && integers.index(of: 5) == nil && integers.index(of: "7") == nil)
    }

    @Test func givenOrdersAreKept() {
        let labels = ClassLabels(.strings(["b", "a", "b"]))
        #expect(labels.texts == ["b", "a", "b"] && labels.count == 3)
        #expect(labels.index(of: "b") == 0 && labels.index(of: "a") == 1)
        #expect(ClassLabels(.integers([9, 8, 9])).index(of: 9) == 0)
        #expect(ClassLabels(.strings([])).count == 0)
    }

    @Test func labelsAreCollectedAsTheyCome() {
        var labels = ClassLabels(.strings([]))
        let indices = ["x", "y", "x", "a", "y"].map { labels.insert($0) }
        #expect(indices == [0, 1, 0, 2, 1])
        #expect(labels.list == .strings(["x", "y", "a"]) && labels.index(of: "a") == 2)
    }
}
