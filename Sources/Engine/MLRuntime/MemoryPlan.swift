/// The offsets of one run's buffers in its arena, such that no two buffers that are alive at the same time overlap.
package struct MemoryPlan: Sendable {
    /// A buffer and the steps, first and last included, during which its contents are needed.
    package struct Lifetime: Sendable {
        package var byteCount: Int
        package var first: Int
        package var last: Int

        package init(byteCount: Int, first: Int, last: Int) {
            self.byteCount = byteCount
            self.first = first
            self.last = last
        }
    }

    package static let alignment = 64

    /// In the order of the lifetimes given.
    package let offsets: [Int]
    package let byteCount: Int

    /// Places the largest buffer first, each into the smallest gap between the buffers that it must not overlap.
    package init(_ lifetimes: [Lifetime]) {
        var offsets = [Int](repeating: 0, count: lifetimes.count)
        var placed: [Int] = []
        var total = 0
        let order = lifetimes.indices.sorted {
            (lifetimes[$1].byteCount, lifetimes[$0].first, $0) < (lifetimes[$0].byteCount, lifetimes[$1].first, $1)
        }
        for index in order {
            let lifetime = lifetimes[index]
            let size = Self.aligned(lifetime.byteCount)
            let neighbours = placed.filter {
                lifetimes[$0].first <= lifetime.last && lifetime.first <= lifetimes[$0].last
            }
            .sorted { offsets[$0] < offsets[$1] }
            var best: (offset: Int, gap: Int)?
            var end = 0
            for neighbour in neighbours {
                let gap = offsets[neighbour] - end
                if gap >= size, gap < best?.gap ?? .max { best = (end, gap) }
                end = max(end, offsets[neighbour] + Self.aligned(lifetimes[neighbour].byteCount))
            }
            offsets[index] = best?.offset ?? end
            total = max(total, offsets[index] + size)
            placed.append(index)
        }
        self.offsets = offsets
        byteCount = total
    }

    package static func aligned(_ byteCount: Int) -> Int { (byteCount + alignment - 1) / alignment * alignment }
}
