"""Short news notes to summarize, in English and Japanese, with facts that are made up.

The templates are few and their facts come from short lists, so that tens of thousands of tokens
teach a small model something.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

LANGUAGES = ("en", "ja")

ASKS = {"en": "Summarize these notes in two sentences.", "ja": "次のメモを二文に要約してください。"}

TOPICS = {
    "en": (
        "{city}, {day}\n- {storm} from {hour}\n- up to {mm} mm of rain by {later}\n"
        "- trains to {town} stop at {later}\n- {office}: {advice}",
        "{team} {goals}-{fewer} {rival}, {city}, {day}\n- {player} scored twice\n"
        "- {thousand},000 spectators\n- {team} now {place} in the table\n- next match: {next_day}",
        "{company} ({city}, {product})\n- new factory in {town}, opens in {month}\n"
        "- cost: {million} million euros\n- {hundred}00 jobs\n- sales up {percent}% last year",
        "{building} of {city}\n- reopens on {day} after {years} years of repairs\n"
        "- cost: {million} million euros\n- new: {feature}\n- free entry until {next_day}",
        "Road works, {city}\n- {street} closed from {day} to {next_day}\n- reason: {works}\n"
        "- buses go through {town}\n- {office}: expect delays of {minutes} minutes",
    ),
    "ja": (
        "{city}、{day}\n・{hour}から{storm}\n・{later}までに最大{mm}ミリの雨\n"
        "・{town}行きの電車は{later}に運休\n・{office}「{advice}」",
        "{team} {goals}対{fewer} {rival}（{city}、{day}）\n・{player}が2得点\n"
        "・観客{thousand},000人\n・{team}は{place}に浮上\n・次の試合は{next_day}",
        "{company}（{city}、{product}）\n・{town}に新工場、{month}に稼働\n"
        "・投資額{million}億円\n・{hundred}00人を採用\n・昨年の売上は{percent}%増",
        "{city}の{building}\n・{years}年の改修を終え{day}に再開\n・費用は{million}億円\n"
        "・新設：{feature}\n・{next_day}まで入場無料",
        "道路工事（{city}）\n・{street}は{day}から{next_day}まで通行止め\n・理由：{works}\n"
        "・バスは{town}を経由\n・{office}「{minutes}分ほどの遅れを見込む」",
    ),
}

FACTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "en": {
        "city": ("Leeds", "Bristol", "Cardiff", "Dundee", "Norwich", "Exeter", "Derby", "York"),
        "town": ("Selby", "Bath", "Newport", "Perth", "Ely", "Taunton", "Buxton", "Whitby"),
        "day": ("Monday", "Tuesday", "Wednesday", "Thursday"),
        "next_day": ("Friday", "Saturday", "Sunday"),
        "month": ("January", "March", "May", "July", "September", "November"),
        "hour": ("noon", "14:00", "15:00", "16:00"),
        "later": ("18:00", "20:00", "22:00", "midnight"),
        "storm": ("heavy rain", "thunderstorms", "strong wind and rain", "sleet and rain"),
        "office": ("the city council", "the mayor", "the police", "the transport office"),
        "advice": ("stay at home", "avoid the river", "check the timetable", "drive slowly"),
        "team": ("United", "Rovers", "Albion", "Wanderers"),
        "rival": ("City", "Athletic", "Rangers", "Town"),
        "player": ("Adams", "Clarke", "Murphy", "Hughes", "Patel", "Novak"),
        "place": ("first", "second", "third", "fourth"),
        "company": ("Northway", "Bluefield", "Harwood", "Castle & Sons", "Orbit"),
        "product": ("bicycles", "batteries", "furniture", "medical devices", "bread"),
        "building": ("The museum", "The library", "The theatre", "The swimming pool"),
        "feature": ("a café", "a garden on the roof", "a room for children", "a lift"),
        "street": ("Station Road", "Mill Lane", "High Street", "Bridge Street"),
        "works": ("a new water pipe", "repairs to the bridge", "a cycle path", "new tram rails"),
    },
    "ja": {
        "city": ("札幌", "仙台", "金沢", "静岡", "岡山", "松山", "熊本", "長野"),
        "town": ("小樽", "石巻", "小松", "浜松", "倉敷", "今治", "八代", "松本"),
        "day": ("月曜日", "火曜日", "水曜日", "木曜日"),
        "next_day": ("金曜日", "土曜日", "日曜日"),
        "month": ("1月", "3月", "5月", "7月", "9月", "11月"),
        "hour": ("正午", "午後2時", "午後3時", "午後4時"),
        "later": ("午後6時", "午後8時", "午後10時", "深夜"),
        "storm": ("大雨", "雷雨", "暴風雨", "みぞれ"),
        "office": ("市役所", "市長", "警察", "交通局"),
        "advice": ("外出を控えて", "川に近づかないで", "時刻表を確認して", "ゆっくり運転して"),
        "team": ("ユナイテッド", "ブルーズ", "ファルコンズ", "スターズ"),
        "rival": ("タイガース", "ドルフィンズ", "イーグルス", "ベアーズ"),
        "player": ("佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺"),
        "place": ("首位", "2位", "3位", "4位"),
        "company": ("北和工業", "青空電機", "山川製作所", "丸一食品", "東海技研"),
        "product": ("自転車", "電池", "家具", "医療機器", "パン"),
        "building": ("美術館", "図書館", "劇場", "市民プール"),
        "feature": ("カフェ", "屋上庭園", "子ども室", "エレベーター"),
        "street": ("駅前通り", "中央通り", "本町通り", "川沿いの道"),
        "works": ("水道管の交換", "橋の補修", "自転車道の整備", "線路の敷設"),
    },
}  # fmt: skip

NUMBERS = {
    "mm": range(30, 90, 10), "goals": range(3, 6), "fewer": range(3), "thousand": range(4, 20, 2),
    "million": range(5, 50, 5), "hundred": range(1, 6), "percent": range(3, 20, 2),
    "years": range(2, 6), "minutes": range(10, 40, 5),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """Notes with what is asked about them; `id` says where they come from."""

    id: str
    lang: str
    text: str

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"{ASKS[self.lang]}\n\n{self.text}"}]


def training(lang: str) -> Iterator[Note]:
    """Notes without end, topics in turn; the same ones every time."""
    return (_note(lang, "train", number) for number in count())


def held_out(each: int) -> list[Note]:
    """`each` notes of either language that are not trained on, topics in turn."""
    return [_note(lang, "test", number) for lang in LANGUAGES for number in range(each)]


def _note(lang: str, purpose: str, number: int) -> Note:
    rng = Random(f"{lang} {purpose} {number}")
    facts = {name: rng.choice(values) for name, values in (FACTS[lang] | NUMBERS).items()}
    topic = TOPICS[lang][number % len(TOPICS[lang])]
    return Note(f"{lang}-{purpose}-{number}", lang, topic.format(**facts))
