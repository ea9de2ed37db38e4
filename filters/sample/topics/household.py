"""The laboratory's own list: lunch, seminars, keys, umbrellas."""

from filters.sample.topics.topic import Topic

HOUSEHOLD = Topic(
    share=0.18,
    list_name="everyone",
    slots={
        "dish": (
            "lentil soup", "the dumpling place", "Gwen's mushroom pie", "the noodle cart",
            "leftover cake", "the sandwich order", "pizza", "the good curry",
        ),
        "room": (
            "the seminar room", "the kitchen", "room 214", "the library corner", "the loading dock",
            "the roof terrace",
        ),
        "lost": (
            "a green umbrella", "the projector remote", "a set of bicycle keys",
            "the label printer",
            "volume two of the handbook", "a single glove", "the good scissors",
        ),
        "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
        "talk": (
            "how to read a query plan", "what filters are for", "a history of the tape robot",
            "clocks that step back", "measuring things that move", "news without editors",
        ),
    },
    subjects=(
        "lunch on {day}: {dish}", "seminar on {day}: {talk}", "lost: {lost}", "found: {lost}",
        "{room} is taken on {day}", "who is in on {day}?", "{dish}, recipe wanted",
        "minutes of {day}'s meeting", "keys for {room}", "coffee: the state of the kitty",
        "the window in {room}", "visitors on {day}", "{talk}: slides", "fire drill on {day}",
    ),
    openings=(
        "{dish} on {day} at noon, if at least {m} of us say yes.",
        "The seminar on {day} is about {talk}; it starts at {m} sharp, with biscuits.",
        "I have found {lost} in {room}. It is on my desk and it wants to go home.",
        "Whoever borrowed {lost}: no questions asked, just put it back in {room}.",
        "{room} is not available on {day}, because of visitors who like it quiet.",
        "We are {n} in the coffee kitty and {m} of us pay. I name no names.",
    ),
    details=(
        "There is room for {n}, or {m} if we sit closely.",
        "Please say so before ten, so that somebody can order.",
        "It has been there for {n} days and nobody has come for it.",
        "Bring your own cup; the dishwasher is on strike again.",
        "Edith has asked for fewer slides and more chalk, and so it shall be.",
        "The window does not shut, so take a sweater.",
    ),
    questions=(
        "Who is coming?",
        "Does anybody not eat mushrooms?",
        "Could somebody take notes? I cannot be there.",
        "Is {day} really the only day?",
    ),
    answers=(
        "Count me in, and one guest who eats little.",
        "Yes, with pleasure. I can bring bread.",
        "I can do {day}, but not before one.",
        "It is mine! I will fetch it this afternoon, with thanks and shame.",
        "I will take notes, if somebody reads them afterwards.",
        "Put me down for {m}. The others are too polite to ask.",
    ),
    doubts=(
        "Not {day}, please: half of us are at the machine room then.",
        "We had {dish} last week, and the week before.",
        "I paid in {m} coins and have a witness.",
        "It is in use until three, whatever the calendar says.",
    ),
    thanks=(
        "Thank you, it was very good. {dish} again next month?",
        "Thanks for the notes. I did not know I had agreed to that.",
        "Found, with thanks. Drinks on me.",
    ),
)  # fmt: skip
