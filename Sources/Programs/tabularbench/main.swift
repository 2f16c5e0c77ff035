// tabularbench FILE [RIGHT]: one operation for each line of standard input, on the table of a CSV file.
//
// Answers each line with a line of JSON: milliseconds of wall time and of all threads' processor time, and a figure of
// the result that must be the same for all implementations. `Benchmarks/tabular` asks.

import Foundation

/// Seconds of processor time of all threads so far.
func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

let arguments = CommandLine.arguments
guard arguments.count > 1 else {
    print("tabularbench FILE [RIGHT]")
    exit(2)
}
var operations = try Operations(path: arguments[1], keys: arguments.count > 2 ? arguments[2] : nil)
print("ready")
fflush(nil)
while let line = readLine() {
    let wall = ContinuousClock.now
    let before = processorTime()
    let figure = try operations.perform(line)
    let spent = processorTime() - before
    let elapsed = ContinuousClock.now - wall
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let milliseconds = Double(elapsed.components.seconds) * 1e3 + Double(elapsed.components.attoseconds) * 1e-15
    print(
        "{\"wall\": \(milliseconds), \"processor\": \(spent * 1e3), \"figure\": \(figure), \"peak\": \(usage.ru_maxrss)}"
    )
    fflush(nil)
}
