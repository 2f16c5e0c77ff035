// What Foundation answers about numbers, dates and letters in every locale (scripts/packaging/check-icu).
import Foundation

let date = Date(timeIntervalSince1970: 1_764_000_000)
for identifier in Locale.availableIdentifiers.sorted() {
    let locale = Locale(identifier: identifier)
    let formatter = DateFormatter()
    formatter.locale = locale
    formatter.dateFormat = "EEEE d MMMM yyyy HH:mm:ss Z"
    formatter.timeZone = TimeZone(identifier: "Asia/Tokyo")
    let styles = [("Europe/Riga", Date.FormatStyle.DateStyle.abbreviated), ("GMT", .complete)].map { zone, style in
        Date.FormatStyle(date: style, time: .standard, locale: locale, timeZone: TimeZone(identifier: zone)!)
    }
    print(
        identifier,
        0.1234.formatted(.percent.locale(locale)),
        12345.678.formatted(.number.locale(locale)),
        styles.map(date.formatted),
        formatter.string(from: date),
        "İıŞ straße ΑΣ".lowercased(with: locale),
        "istanbul ß".uppercased(with: locale)
    )
}
let posix = DateFormatter()
posix.locale = Locale(identifier: "en_US_POSIX")
posix.dateFormat = "EEE, d MMM yyyy HH:mm:ss zzz zzzz VVVV"
for zone in TimeZone.knownTimeZoneIdentifiers.sorted() {
    posix.timeZone = TimeZone(identifier: zone)
    print(posix.string(from: date))
}
print(["b", "ä", "a", "Z"].sorted { $0.compare($1, locale: Locale(identifier: "en")) == .orderedAscending })
print("é".folding(options: .diacriticInsensitive, locale: nil))
