import Glibc
import MLEncryption

/// A device's sources of time: the clock, which can be set, and the seconds since the machine was started.
public struct DeviceClock: Sendable {
    /// The system's clock.
    public let now: @Sendable () -> ServiceTime
    /// An identifier of this boot of the machine, and the seconds since then, sleep included.
    public let sinceStart: @Sendable () -> (start: String, seconds: Int)

    /// Creates a clock from functions, for tests.
    public init(
        now: @escaping @Sendable () -> ServiceTime,
        sinceStart: @escaping @Sendable () -> (start: String, seconds: Int)
    ) {
        (self.now, self.sinceStart) = (now, sinceStart)
    }

    /// The machine's own clock, with `CLOCK_BOOTTIME` and the kernel's `boot_id`.
    public static let system = DeviceClock(now: { .now }) {
        var time = timespec()
        guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return ("", 0) }
        return (startName, Int(time.tv_sec))
    }

    /// The kernel's random identifier of this boot; empty where it has none.
    private static let startName: String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 36, let text = String(validating: bytes.prefix(36), as: UTF8.self) else { return "" }
        return text
    }()
}
