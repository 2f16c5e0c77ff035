/// Words of a text: runs of letters, digits and marks, with ’ and ' inside a word.
package enum Words {
    /// Each word and its position, in UTF-16 units.
    package static func split(_ text: String) -> [(word: Substring, location: Int, length: Int)] {
        var words: [(word: Substring, location: Int, length: Int)] = []
        var start: String.Index?
        var (location, position) = (0, 0)
        var index = text.startIndex
        func isInner(_ character: Character) -> Bool { character.isLetter || character.isNumber }
        while index < text.endIndex {
            let character = text[index]
            let next = text.index(after: index)
            let isApostrophe =
                (character == "'" || character == "’") && start != nil
                && next < text.endIndex && text[next].isLetter
            if isInner(character) || isApostrophe {
                if start == nil { (start, location) = (index, position) }
            } else if let begin = start {
                words.append((text[begin..<index], location, position - location))
                start = nil
            }
            position += character.utf16.count
            index = next
        }
        if let begin = start { words.append((text[begin...], location, position - location)) }
        return words
    }

    /// Words and single punctuation marks, the tokens of word taggers.
    package static func tokens(_ text: String) -> [(word: Substring, location: Int, length: Int)] {
        var tokens = split(text)
        var position = 0
        let used = tokens.map { $0.location..<$0.location + $0.length }
        var word = 0
        for index in text.indices {
            let character = text[index]
            let length = character.utf16.count
            while word < used.count, used[word].upperBound <= position { word += 1 }
            let isInside = word < used.count && used[word].contains(position)
            if !isInside, !character.isWhitespace {
                tokens.append((text[index...index], position, length))
            }
            position += length
        }
        return tokens.sorted { $0.location < $1.location }
    }
}
