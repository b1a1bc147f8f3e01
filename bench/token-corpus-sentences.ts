/** Plain everyday sentences by language, because names and messages alone are not typical text. */
export const ownSentences: Readonly<Record<string, readonly string[]>> = {
  de: [
    'Gestern hat es den ganzen Tag geregnet, also sind wir zu Hause geblieben und haben gekocht',
    'Könntest du mir bitte erklären, warum diese Funktion zweimal aufgerufen wird?',
  ],
  fr: [
    'Hier il a plu toute la journée, alors nous sommes restés à la maison pour faire la cuisine',
    "Pourriez-vous m'expliquer pourquoi cette fonction est appelée deux fois ?",
  ],
  es: [
    'Ayer llovió todo el día, así que nos quedamos en casa y cocinamos juntos',
    '¿Podrías explicarme por qué se llama dos veces a esta función?',
  ],
  it: [
    'Ieri ha piovuto tutto il giorno, quindi siamo rimasti a casa a cucinare',
    'Perché questa funzione viene chiamata due volte?',
  ],
  pt: [
    'Ontem choveu o dia inteiro, então ficamos em casa e cozinhamos',
    'Você pode me explicar por que esta função é chamada duas vezes?',
  ],
  nl: [
    'Gisteren regende het de hele dag, dus we zijn thuis gebleven',
    'Kun je uitleggen waarom deze functie twee keer wordt aangeroepen?',
  ],
  sv: [
    'Igår regnade det hela dagen, så vi stannade hemma och lagade mat',
    'Kan du förklara varför funktionen anropas två gånger?',
  ],
  pl: [
    'Wczoraj cały dzień padało, więc zostaliśmy w domu i gotowaliśmy',
    'Czy możesz mi wyjaśnić, dlaczego ta funkcja jest wywoływana dwa razy?',
  ],
  cs: [
    'Včera celý den pršelo, takže jsme zůstali doma a vařili',
    'Můžeš mi vysvětlit, proč se tato funkce volá dvakrát?',
  ],
  hu: [
    'Tegnap egész nap esett az eső, ezért otthon maradtunk és főztünk',
    'El tudnád magyarázni, miért hívódik meg kétszer ez a függvény?',
  ],
  fi: [
    'Eilen satoi koko päivän, joten jäimme kotiin ja laitoimme ruokaa',
    'Voisitko selittää, miksi tätä funktiota kutsutaan kahdesti?',
  ],
  tr: [
    'Dün bütün gün yağmur yağdı, biz de evde kalıp yemek yaptık',
    'Bu fonksiyonun neden iki kez çağrıldığını açıklayabilir misin?',
  ],
  id: [
    'Kemarin hujan turun sepanjang hari, jadi kami tinggal di rumah dan memasak',
    'Bisakah kamu menjelaskan mengapa fungsi ini dipanggil dua kali?',
  ],
  sw: [
    'Jana mvua ilinyesha siku nzima, kwa hiyo tulibaki nyumbani tukapika',
    'Unaweza kunieleza kwa nini kazi hii inaitwa mara mbili?',
  ],
  zu: ['Izolo bekunetha imvula usuku lonke ngakho sihlale ekhaya sapheka ukudla'],
  vi: [
    'Hôm qua trời mưa cả ngày nên chúng tôi ở nhà nấu ăn',
    'Bạn có thể giải thích vì sao hàm này được gọi hai lần không?',
  ],
  ru: [
    'Вчера весь день шёл дождь, поэтому мы остались дома и готовили',
    'Не могли бы вы объяснить, почему эта функция вызывается дважды?',
  ],
  uk: ['Вчора цілий день ішов дощ, тому ми залишилися вдома', 'Чому ця функція викликається двічі?'],
  bg: ['Вчера валя цял ден, затова останахме вкъщи и готвихме', 'Защо тази функция се извиква два пъти?'],
  el: [
    'Χθες έβρεχε όλη μέρα, γι’ αυτό μείναμε στο σπίτι και μαγειρέψαμε',
    'Μπορείς να μου εξηγήσεις γιατί αυτή η συνάρτηση καλείται δύο φορές;',
  ],
  he: ['אתמול ירד גשם כל היום, אז נשארנו בבית ובישלנו', 'אפשר להסביר לי למה הפונקציה הזאת נקראת פעמיים?'],
  ar: ['أمطرت السماء أمس طوال اليوم فبقينا في البيت وطبخنا', 'هل يمكنك أن تشرح لي لماذا تُستدعى هذه الدالة مرتين؟'],
  fa: ['دیروز تمام روز باران بارید، برای همین در خانه ماندیم و غذا پختیم'],
  ur: ['کل سارا دن بارش ہوتی رہی اس لیے ہم گھر پر رہے'],
  hi: ['कल सारा दिन बारिश हुई, इसलिए हम घर पर रहे और खाना बनाया', 'क्या आप बता सकते हैं कि यह फ़ंक्शन दो बार क्यों बुलाया जाता है?'],
  mr: ['काल दिवसभर पाऊस पडला, म्हणून आम्ही घरीच राहिलो'],
  bn: ['গতকাল সারাদিন বৃষ্টি হয়েছিল, তাই আমরা বাড়িতে থেকে রান্না করেছি'],
  ta: ['நேற்று நாள் முழுவதும் மழை பெய்தது, அதனால் நாங்கள் வீட்டிலேயே இருந்தோம்'],
  te: ['నిన్న రోజంతా వర్షం పడింది, అందుకే మేము ఇంట్లోనే ఉన్నాము'],
  th: ['เมื่อวานฝนตกทั้งวัน พวกเราเลยอยู่บ้านทำอาหารกัน', 'ช่วยอธิบายหน่อยได้ไหมว่าทำไมฟังก์ชันนี้ถูกเรียกสองครั้ง'],
  ko: ['어제는 하루 종일 비가 와서 우리는 집에서 요리를 했어요', '이 함수가 왜 두 번 호출되는지 설명해 주시겠어요?'],
  ja: ['昨日は一日中雨が降っていたので、家で料理をしました', 'この関数がなぜ二回呼び出されるのか説明してもらえますか'],
  'zh-Hans': ['昨天下了一整天的雨，所以我们待在家里做饭', '你能解释一下为什么这个函数会被调用两次吗'],
  'zh-Hant': ['昨天下了一整天的雨，所以我們待在家裡做飯', '你能解釋一下為什麼這個函式會被呼叫兩次嗎'],
};
