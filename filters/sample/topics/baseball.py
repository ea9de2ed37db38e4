"""Baseball: rec.sport.baseball, and a team that loses."""

from filters.sample.topics.topic import Topic

BASEBALL = Topic(
    share=0.2,
    groups={"rec.sport.baseball": 1},
    slots={
        "team": (
            "the Harbor Herons", "the Millbrook Owls", "the Eastfield Larks", "the Foundry Nine",
            "the Valley Comets", "the Granite Foxes", "the Lakeside Pilots",
        ),
        "other": (
            "the Bridgeport Terns", "the Quarry Hounds", "the Saltmarsh Reds", "the Uptown Clerks",
        ),
        "player": (
            "Delgado", "Whitaker", "the rookie shortstop", "old Prentiss", "Yamada",
            "the left-hander", "McCready", "the second Kowalski", "Baptiste",
        ),
        "stat": (
            "on-base percentage", "fielding average", "strikeouts per walk", "stolen bases",
            "runs in close games", "batting with two out", "innings from the bullpen",
        ),
        "inning": ("third", "fifth", "seventh", "eighth", "ninth", "eleventh"),
    },
    subjects=(
        "{team} against {other}", "{player} should bat first", "the {inning} inning",
        "{player}: is {stat} everything?", "tickets for {team}", "trade {player}?",
        "scorecards of {team} as a table", "{other} are better than they look",
        "{stat}, explained badly", "laboratory game on Friday", "{player} and the umpire",
        "who keeps score for {team}?", "the bullpen of {team}", "rain in the {inning}",
    ),
    openings=(
        "I was there. Do not believe what the paper says about the {inning}.",
        "{team} have now left {n} runners on base in {m} games, and I have counted twice.",
        "A serious question: how can {player} lead in {stat} and still lose games?",
        "I have two tickets for {team} against {other} and no company.",
        "Somebody here must be able to explain the {inning} inning to me.",
        "Our own game is on Friday, and so far we have {m} players and no catcher.",
        "I put the season of {team} into a table, mostly to avoid other work.",
    ),
    details=(
        "{player} went {m} for {n} last week, and two of those were bunts.",
        "It was the coldest evening since they built the stand, and the bullpen looked it.",
        "By my count that is the {n}th game this year decided in the {inning}.",
        "In {stat} they are last, in spirits they are not.",
        "The umpire was {m} feet from it and looked at the moon.",
        "He has thrown {n}0 pitches in ten days; no arm is made for that.",
        "{other} have the better pitching, we have the better sandwiches.",
    ),
    questions=(
        "Is it too early to talk about next year?",
        "Who else is going?",
        "Does {stat} mean anything before the summer?",
        "Can anybody catch? It need not be well.",
        "What would you give for {player}?",
    ),
    answers=(
        "He sees more pitches than anybody, and {stat} does not count that.",
        "I will come, if I may bring the scorecard and complain.",
        "The manager left him in one batter too long, as he did in the {inning} on Tuesday.",
        "Look at {stat} after the {n}th of the month: it is another team.",
        "Trade him now, while {other} still believe what they read.",
        "I can catch. I have not since school, but I own the glove.",
        "It is the park. Everybody hits there when the wind comes from the river.",
    ),
    doubts=(
        "{n} games are not a season.",
        "You say that every year about {player}, and every year you are wrong by August.",
        "{stat} is what people quote when they have not seen the game.",
        "He was out. I love him, but he was out.",
        "With that infield it does not matter who pitches.",
    ),
    thanks=(
        "All right, I believe you. Section {n}, row {m}, bring a coat.",
        "Thanks. I will stop defending {player}, until Sunday.",
        "That is the kindest reading of that inning so far.",
    ),
)  # fmt: skip
