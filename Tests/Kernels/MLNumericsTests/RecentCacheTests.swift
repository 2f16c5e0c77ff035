import MLNumerics
import Testing

struct RecentCacheTests {
    @Test func theKeyThatWasNotAskedForLongestGoesFirst() {
        var cache = RecentCache<Int, String>(limit: 3)
        for key in 1...3 { #expect(cache.keep("\(key)", for: key) == "\(key)") }
        #expect(cache.find(1) == "1")
        #expect(cache.keep("4", for: 4) == "4")
        #expect(cache.find(2) == nil)
        #expect([1, 3, 4].map { cache.find($0) } == ["1", "3", "4"])
        #expect(cache.count == 3)
    }

    @Test func whatWasKeptFirstStays() {
        var cache = RecentCache<Int, String>(limit: 2)
        #expect(cache.keep("first", for: 1) == "first")
        #expect(cache.keep("second", for: 1) == "first")
        #expect(cache.count == 1)
    }
}
