import Foundation
import NaturalLanguage
import Testing

struct LanguageRecognizerTests {
    /// One sentence of each language, in the order of the tags.
    private static let sentences: [(tag: String, text: String)] = [
        ("af", "Ons het gister saam met die kinders na die see toe gery en laat teruggekom."),
        ("am", "ዛሬ ጠዋት ከጓደኛዬ ጋር ቡና ጠጣሁ።"),
        ("ar", "ذهبت مع أخي إلى السوق هذا الصباح لشراء الخبز والفواكه."),
        ("az", "Dünən axşam dostlarımla şəhərin mərkəzində gəzdik və çay içdik."),
        ("be", "Учора мы доўга гулялі па лесе і збіралі грыбы з бабуляй."),
        ("bg", "Вчера ходихме на разходка в планината и се върнахме късно вечерта."),
        ("bn", "আজ সকালে আমি বাজারে গিয়ে মাছ কিনেছি।"),
        ("bo", "ང་ད་རིང་སློབ་གྲྭར་འགྲོ་གི་ཡིན།"),
        ("ca", "Ahir vam anar a la platja amb els meus cosins i vam menjar molt bé."),
        ("chr", "ᏙᎯᏧ ᎣᏏᏲ ᏣᎳᎩ"),
        ("cs", "Včera večer jsme šli s kamarády do kina a potom na dobrou večeři."),
        ("cy", "Aethon ni am dro hir ar hyd yr afon ddoe gyda'r plant a'r ci."),
        ("da", "I går gik vi en lang tur ved stranden, og bagefter spiste vi kage hos min mormor."),
        ("de", "Gestern sind wir mit dem Zug ans Meer gefahren und erst spät zurückgekommen."),
        ("el", "Χθες το βράδυ πήγαμε με τους φίλους μας στη θάλασσα."),
        ("en", "Yesterday we walked along the river and came home late in the evening."),
        ("eo", "Hieraŭ ni promenis kun niaj amikoj en la arbaro kaj trovis multajn fungojn."),
        ("es", "Ayer fuimos a la playa con mis primos y comimos muy bien en un restaurante."),
        ("et", "Eile käisime sõpradega metsas jalutamas ja korjasime palju seeni."),
        ("eu", "Atzo lagunekin hondartzara joan ginen eta oso ondo pasatu genuen."),
        ("fa", "دیروز با دوستانم به پارک رفتیم و تا شب آنجا ماندیم."),
        ("fi", "Eilen kävelimme ystävien kanssa metsässä ja löysimme paljon sieniä."),
        ("fr", "Hier, nous sommes allés à la mer avec nos amis et nous avons très bien mangé."),
        ("ga", "Chuaigh muid go dtí an trá inné leis na páistí agus bhí an aimsir go hálainn."),
        ("gl", "Onte fomos á praia cos meus curmáns e xantamos moi ben nunha taberna."),
        ("gu", "આજે સવારે હું મારા મિત્ર સાથે બજારમાં ગયો હતો."),
        ("he", "אתמול הלכנו עם החברים לים וחזרנו הביתה מאוחר."),
        ("hi", "आज सुबह मैं अपने दोस्त के साथ बाज़ार गया था और हमने फल खरीदे।"),
        ("hr", "Jučer smo s prijateljima išli u šetnju uz more i vratili se tek navečer."),
        ("hu", "Tegnap este a barátaimmal moziba mentünk, aztán együtt vacsoráztunk."),
        ("hy", "Երեկ ընկերներիս հետ գնացինք լիճ և ուշ վերադարձանք տուն։"),
        ("id", "Kemarin kami pergi ke pantai bersama teman-teman karena cuacanya sangat bagus."),
        ("is", "Í gær gengum við meðfram ánni og komum ekki heim fyrr en seint um kvöldið."),
        ("it", "Ieri siamo andati al mare con gli amici e abbiamo mangiato molto bene."),
        ("ja", "昨日は友達と一緒に海へ行って、おいしい魚を食べました。"),
        ("ka", "გუშინ მეგობრებთან ერთად ზღვაზე წავედით."),
        ("kk", "Кеше біз достарымызбен бірге қалада серуендеп, кешке үйге қайттық."),
        ("km", "ថ្ងៃនេះខ្ញុំទៅផ្សារជាមួយមិត្តភក្តិរបស់ខ្ញុំ។"),
        ("kn", "ಇಂದು ಬೆಳಿಗ್ಗೆ ನಾನು ನನ್ನ ಗೆಳೆಯನೊಂದಿಗೆ ಮಾರುಕಟ್ಟೆಗೆ ಹೋದೆ."),
        ("ko", "어제 친구들과 함께 바다에 가서 맛있는 생선을 먹었습니다."),
        ("lo", "ມື້ນີ້ຂ້ອຍໄປຕະຫຼາດກັບໝູ່."),
        ("lt", "Vakar su draugais ilgai vaikščiojome po mišką ir prisirinkome grybų."),
        ("lv", "Vakar mēs ar draugiem ilgi staigājām pa mežu un salasījām daudz sēņu."),
        ("mk", "Вчера со пријателите одевме на прошетка покрај езерото и се вративме доцна."),
        ("ml", "ഇന്ന് രാവിലെ ഞാൻ കൂട്ടുകാരനോടൊപ്പം ചന്തയിൽ പോയി."),
        ("mn", "Өчигдөр бид найзуудтайгаа хамт хотын төвөөр зугаалж, орой нь гэртээ ирсэн."),
        ("mr", "आज सकाळी मी माझ्या मित्रासोबत बाजारात गेलो होतो आणि आम्ही फळे घेतली."),
        ("ms", "Semalam kami pergi ke pantai bersama kawan-kawan kerana cuaca sangat baik."),
        ("my", "ဒီနေ့မနက် သူငယ်ချင်းနဲ့အတူ ဈေးကိုသွားခဲ့တယ်။"),
        ("nb", "I går gikk vi en lang tur langs elva, og etterpå spiste vi kake hos bestemor."),
        ("ne", "आज बिहान म साथीसँग बजार गएको थिएँ र हामीले फलफूल किन्यौं।"),
        ("nl", "Gisteren zijn we met de trein naar zee gegaan en pas laat weer thuisgekomen."),
        ("or", "ଆଜି ସକାଳେ ମୁଁ ସାଙ୍ଗ ସହିତ ବଜାରକୁ ଯାଇଥିଲି।"),
        ("pa", "ਅੱਜ ਸਵੇਰੇ ਮੈਂ ਆਪਣੇ ਦੋਸਤ ਨਾਲ ਬਾਜ਼ਾਰ ਗਿਆ ਸੀ।"),
        ("pl", "Wczoraj poszliśmy z przyjaciółmi na długi spacer i wróciliśmy późno do domu."),
        ("pt", "Ontem fomos à praia com os meus primos e almoçamos muito bem num restaurante."),
        ("ro", "Ieri am fost la mare cu prietenii și am mâncat foarte bine într-un restaurant."),
        ("ru", "Вчера мы долго гуляли по лесу с друзьями и вернулись домой поздно вечером."),
        ("si", "අද උදේ මම යාළුවා එක්ක වෙළඳපොළට ගියා."),
        ("sk", "Včera večer sme išli s kamarátmi do kina a potom na dobrú večeru."),
        ("sl", "Včeraj smo šli s prijatelji na dolg sprehod ob reki in se pozno vrnili domov."),
        ("sq", "Dje shkuam në plazh me shokët dhe u kthyem në shtëpi shumë vonë."),
        ("sr", "Јуче смо са пријатељима ишли у шетњу поред реке и вратили се тек увече."),
        ("sv", "I går gick vi en lång promenad längs ån och sedan åt vi tårta hos mormor."),
        ("sw", "Jana tulikwenda sokoni pamoja na rafiki zetu kununua matunda na samaki."),
        ("ta", "இன்று காலை நான் நண்பனுடன் சந்தைக்குச் சென்றேன்."),
        ("te", "ఈ రోజు ఉదయం నేను స్నేహితుడితో కలిసి మార్కెట్‌కు వెళ్ళాను."),
        ("th", "เมื่อวานนี้ฉันไปตลาดกับเพื่อนและซื้อผลไม้"),
        ("tl", "Kahapon ay pumunta kami sa dagat kasama ang mga kaibigan at masaya ang lahat."),
        ("tr", "Dün akşam arkadaşlarımızla deniz kenarında yürüdük ve eve geç döndük."),
        ("uk", "Учора ми довго гуляли лісом із друзями й повернулися додому пізно ввечері."),
        ("ur", "آج صبح میں اپنے دوست کے ساتھ بازار گیا تھا اور ہم نے پھل خریدے۔"),
        ("vi", "Hôm qua chúng tôi đi biển với bạn bè và ăn cá rất ngon."),
        ("zh-Hans", "昨天我们和朋友一起去了海边，还吃了很好吃的鱼。"),
        ("zh-Hant", "昨天我們和朋友一起去了海邊，還吃了很好吃的魚。"),
    ]

    @Test func sentencesOfEveryLanguage() {
        for (tag, text) in Self.sentences {
            #expect(NLLanguageRecognizer.dominantLanguage(for: text)?.rawValue == tag, "\(text)")
        }
        #expect(Self.sentences.count == 75)
    }

    @Test func everyNamedLanguageIsKnown() {
        let named: [NLLanguage] = [
            .amharic, .arabic, .armenian, .bengali, .bulgarian, .burmese, .catalan, .cherokee, .croatian, .czech,
            .danish,
            .dutch, .english, .finnish, .french, .georgian, .german, .greek, .gujarati, .hebrew, .hindi, .hungarian,
            .icelandic, .indonesian, .italian, .japanese, .kannada, .kazakh, .khmer, .korean, .lao, .malay, .malayalam,
            .marathi, .mongolian, .norwegian, .oriya, .persian, .polish, .portuguese, .punjabi, .romanian, .russian,
            .simplifiedChinese, .sinhalese, .slovak, .spanish, .swedish, .tamil, .telugu, .thai, .tibetan,
            .traditionalChinese, .turkish, .ukrainian, .urdu, .vietnamese,
        ]
        #expect(Set(named.map(\.rawValue)).isSubset(of: Set(Self.sentences.map(\.tag))))
    }

    @Test func withoutLettersThereIsNoLanguage() {
        for text in ["", " \n\t", "12345", "3.14 + 2 = ?!", "👍🏽🎉", "—…“”", "𓀀𓀁", "\u{0}\u{FFFD}\u{301}"] {
            #expect(NLLanguageRecognizer.dominantLanguage(for: text) == nil, "\(text)")
            let recognizer = NLLanguageRecognizer()
            recognizer.processString(text)
            #expect(recognizer.languageHypotheses(withMaximum: 5).isEmpty)
        }
        #expect(NLLanguageRecognizer().dominantLanguage == nil)
    }

    @Test func hypothesesAreProbabilities() throws {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString("Yesterday we walked along the river and came home late.")
        let all = recognizer.languageHypotheses(withMaximum: 100)
        #expect(abs(all.values.reduce(0, +) - 1) < 1e-9)
        #expect(all.values.allSatisfy { $0 >= 0 && $0 <= 1 })
        #expect(try #require(all[.english]) > 0.95)
        #expect(Set(recognizer.languageHypotheses(withMaximum: 1).keys) == [.english])
        #expect(recognizer.languageHypotheses(withMaximum: 3).count == 3)
        #expect(recognizer.languageHypotheses(withMaximum: 0).isEmpty)
        #expect(recognizer.languageHypotheses(withMaximum: -1).isEmpty)
        // A short word leaves doubt.
        recognizer.reset()
        recognizer.processString("la")
        #expect(recognizer.languageHypotheses(withMaximum: 1).values.allSatisfy { $0 < 0.9 })
    }

    @Test func scriptsCountByTheirShare() throws {
        let recognizer = NLLanguageRecognizer()
        // 6 letters of either script.
        recognizer.processString("Привет καλημέ")
        let both = recognizer.languageHypotheses(withMaximum: 100)
        #expect(abs(try #require(both[.greek]) - 0.5) < 1e-9)
        #expect(both.values.reduce(0, +) <= 1 + 1e-9)
        recognizer.reset()
        // Letters of a script without a language here are no language's.
        recognizer.processString("αβγ ⲁⲃⲅ")
        #expect(recognizer.languageHypotheses(withMaximum: 5) == [.greek: 0.5])
        #expect(NLLanguageRecognizer.dominantLanguage(for: "The word for house is дом, she said") == .english)
    }

    @Test func textsAddUpUntilReset() {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString("Guten Morgen")
        #expect(recognizer.dominantLanguage == .german)
        recognizer.processString(
            "and then we went to see what they had done with all of the other houses in the village"
        )
        #expect(recognizer.dominantLanguage == .english)
        recognizer.languageHints = [.french: 1]
        recognizer.languageConstraints = [.french]
        recognizer.reset()
        #expect(recognizer.dominantLanguage == nil)
        #expect(recognizer.languageHints.isEmpty && recognizer.languageConstraints.isEmpty)
        recognizer.processString("Guten Morgen")
        #expect(recognizer.dominantLanguage == .german)
    }

    @Test func constraintsRestrict() {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString("Guten Morgen, wie geht es dir heute?")
        recognizer.languageConstraints = [.english, .danish]
        let hypotheses = recognizer.languageHypotheses(withMaximum: 10)
        #expect(Set(hypotheses.keys) == [.english, .danish])
        #expect(abs(hypotheses.values.reduce(0, +) - 1) < 1e-9)
        recognizer.languageConstraints = [.russian]
        #expect(recognizer.dominantLanguage == nil)
        recognizer.languageConstraints = []
        #expect(recognizer.dominantLanguage == .german)
    }

    @Test func hintsAreChancesNotConstraints() throws {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString("problem")
        let before = recognizer.languageHypotheses(withMaximum: 100)
        recognizer.languageHints = [.swedish: 0.9, .polish: 0.1]
        let after = recognizer.languageHypotheses(withMaximum: 100)
        #expect(try #require(after[.swedish]) > (before[.swedish] ?? 0))
        #expect(after.count == before.count)
        recognizer.reset()
        recognizer.languageHints = [.swedish: 0.9, .danish: .nan, .dutch: -3, .finnish: .infinity]
        recognizer.processString("Yesterday we walked along the river and came home late in the evening.")
        #expect(recognizer.dominantLanguage == .english)
        // As in the documentation of Apple's: hints that sum to more than 1.
        recognizer.reset()
        recognizer.languageHints = [.french: 0.9, .english: 0.9, .german: 0.9]
        recognizer.processString("Nous sommes arrivés")
        #expect(recognizer.dominantLanguage == .french)
    }

    @Test func spellingsOfOneTextAreAlike() {
        let text = "Hôm qua chúng tôi đi biển với bạn bè và ăn cá rất ngon."
        for form in [text.decomposedStringWithCanonicalMapping, text.uppercased()] {
            #expect(NLLanguageRecognizer.dominantLanguage(for: form) == .vietnamese)
        }
        #expect(NLLanguageRecognizer.dominantLanguage(for: "L’été, c’est l’heure d’été") == .french)
    }

    @Test func noTextTraps() {
        var state: UInt64 = 1
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        // Blocks that need care: joiners, marks, apostrophes, letters of every plane.
        let blocks: [(UInt64, UInt64)] = [
            (0, 0x80), (0x27, 1), (0x300, 0x70), (0x200B, 6), (0x2019, 1), (0x400, 0x130), (0x600, 0x100),
            (0x900, 0x80),
            (0x3000, 0x100), (0x4E00, 0x5000), (0xAC00, 0x2BA4), (0xE000, 0x2000), (0x10000, 0x100000), (0x130, 2),
        ]
        let recognizer = NLLanguageRecognizer()
        for _ in 0..<2_000 {
            var text = String.UnicodeScalarView()
            let few = (0..<3).map { _ in blocks[Int(random(UInt64(blocks.count)))] }
            for _ in 0..<random(40) {
                let (start, count) = few[Int(random(3))]
                if let scalar = Unicode.Scalar(UInt32(start + random(count))) { text.append(scalar) }
            }
            recognizer.reset()
            recognizer.processString(String(text))
            let sum = recognizer.languageHypotheses(withMaximum: .max).values.reduce(0, +)
            #expect(sum >= 0 && sum <= 1 + 1e-9)
            #expect((sum == 0) == (recognizer.dominantLanguage == nil))
        }
        recognizer.reset()
        recognizer.processString(String(repeating: "a", count: 1_000_000))
        recognizer.processString("e" + String(repeating: "\u{301}", count: 100_000))
        recognizer.reset()
        recognizer.processString(String(repeating: "the river ", count: 100_000))
        #expect(recognizer.dominantLanguage == .english)
        recognizer.processString(String(decoding: [0xFF, 0xC0, 0x80, 0x61], as: UTF8.self))
    }

    @Test func taggersRecognizeLanguages() {
        let text = "Guten Tag, wie geht es dir? The weather has been very nice all week."
        let tagger = NLTagger(tagSchemes: [.language])
        #expect(tagger.dominantLanguage == nil)
        tagger.string = text
        let whole = text.startIndex..<text.endIndex
        let sentences = tagger.tags(in: whole, unit: .sentence, scheme: .language).map { $0.0?.rawValue }
        #expect(sentences == ["de", "en"])
        let words = tagger.tags(
            in: whole,
            unit: .word,
            scheme: .language,
            options: [.omitWhitespace, .omitPunctuation]
        )
        #expect(words.map { $0.0?.rawValue } == Array(repeating: "de", count: 6) + Array(repeating: "en", count: 8))
        #expect(tagger.dominantLanguage != nil)
        tagger.string = "Nous sommes arrivés hier soir par le train."
        #expect(tagger.dominantLanguage == .french)
        tagger.string = "42"
        #expect(tagger.dominantLanguage == nil)
        #expect(tagger.tag(at: tagger.string!.startIndex, unit: .word, scheme: .language).0 == nil)
    }

    @Test func tokenizersDivideByTheLanguageTheyRecognize() {
        // A Greek question ends with what looks like a semicolon.
        let text = "Τι κάνεις; Είμαι καλά."
        let tokenizer = NLTokenizer(unit: .sentence)
        tokenizer.string = text
        #expect(tokenizer.tokens(for: text.startIndex..<text.endIndex).count == 2)
        tokenizer.setLanguage(.english)
        #expect(tokenizer.tokens(for: text.startIndex..<text.endIndex).count == 1)
    }
}
