// Speed of single kernels beside the processor's peak and oneDNN:  kernelbench [part of a name] [seconds a measurement]
import Foundation
import MLKernels

let arguments = CommandLine.arguments
let filter = arguments.count > 1 ? arguments[1] : ""
let seconds = arguments.count > 2 ? Double(arguments[2]) ?? 0.2 : 0.2

/// The shortest of the runs that fit into the time, own and other in turn, in seconds.
func best(_ own: () -> Void, _ other: (() -> Void)?) -> (own: Double, other: Double?) {
    func time(_ body: () -> Void) -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        body()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }
    var result = (own: time(own), other: other.map { time($0) })
    let end = Date().addingTimeInterval(seconds)
    repeat {
        for _ in 0..<5 { result.own = min(result.own, time(own)) }
        // oneDNN's threads would otherwise spin beside the next run of ours.
        if let other { for _ in 0..<5 { result.other = min(result.other!, time(other)) } }
    } while Date() < end
    return result
}

func column(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

print("\(InstructionSet.current), oneDNN \(OneDNN.version == 0 ? "absent" : "API \(OneDNN.version)")")
let threadCounts = OneDNN.version > 0 ? [Workers.count] : Array(Set([1, Workers.count])).sorted()
for threads in threadCounts + (threadCounts.contains(1) ? [] : [1]) {
    Workers.limit(to: threads)
    let peak = InstructionSet.measuredPeak(threads: threads)
    print("\n\(threads) thread(s), peak \(Int(peak / 1e9)) GFLOP/s")
    print(
        "kernel".padding(toLength: 44, withPad: " ", startingAt: 0) + column("µs", 9) + column("GFLOP/s", 9)
            + column("of peak", 9) + column("oneDNN µs", 11) + column("speed ratio", 12)
    )
    for make in Case.all {
        let item = make()
        guard filter.isEmpty || item.name.contains(filter) else { continue }
        // oneDNN's thread count is OMP_NUM_THREADS, read once: it is measured with all threads only.
        let times = best(item.own, threads == Workers.count && threads > 1 ? item.other : nil)
        let speed = item.operations / times.own
        print(
            item.name.padding(toLength: 44, withPad: " ", startingAt: 0)
                + column(String(format: "%.1f", times.own * 1e6), 9) + column(String(format: "%.1f", speed / 1e9), 9)
                + column(String(format: "%.0f %%", 100 * speed / peak), 9)
                + column(times.other.map { String(format: "%.1f", $0 * 1e6) } ?? "", 11)
                + column(times.other.map { String(format: "%.2f", $0 / times.own) } ?? "", 12)
        )
    }
}
