"""Machines: comp.sys.* and the machine room."""

from filters.sample.topics.topic import Topic

HARDWARE = Topic(
    share=0.26,
    groups={"comp.sys.workstations": 4, "comp.sys.storage": 3, "comp.sys.printers": 2},
    slots={
        "machine": (
            "the big server", "the old file server", "the machine called heron",
            "the build machine",
            "the seminar-room workstation", "the machine called bittern", "the tape robot",
            "the spare workstation", "the print server", "the router in the basement",
        ),
        "piece": (
            "the second power supply", "the disk in slot four", "the network card", "the fan",
            "the memory in the odd banks", "the controller", "the battery", "the monitor cable",
            "the fuser", "the paper tray", "the clock chip", "the tape drive",
        ),
        "noise": (
            "whistles", "clicks twice and goes quiet", "smells of warm dust", "blinks amber",
            "drops the link every hour", "reports a temperature of minus forty",
            "restarts when the lift moves", "prints everything in triplicate",
            "forgets the time of day",
        ),
        "wish": (
            "a quieter fan", "more memory", "a second network port", "an honest disk",
            "labels on the cables", "a bigger rack", "a spare of everything",
        ),
    },
    subjects=(
        "{machine} {noise}", "{piece} again", "replacing {piece} in {machine}",
        "{machine} down on Saturday", "recommendations: {wish}", "who has the key to {machine}?",
        "{machine}: moved, renamed, or stolen?", "for sale: parts of {machine}",
        "measuring the disks in {machine}", "{piece} of {machine}: a diagnosis",
        "budget for {wish}", "what {machine} did last night", "firmware for {piece}",
        "heat in the machine room", "{wish}, please",
    ),
    openings=(
        "Since Monday {machine} {noise}, and I have run out of cables to wiggle.",
        "I would like to take {machine} down on Saturday to replace {piece}.",
        "If you sit near {machine}: it is not your imagination, it {noise}.",
        "There is money left for {wish}, if we can say by Friday what it should be.",
        "I opened {machine} today. {piece}, with respect, is older than some of us.",
        "Does anybody still use {machine}? It {noise} and I am tempted.",
        "For the record, what happened last night: {machine} went first, the rest followed.",
    ),
    details=(
        "It has been up for {n} days, which is either good or the problem.",
        "Under load it draws {n}0 watts more than it did in the spring.",
        "I measured {m} megabytes a second where the label says {n}0.",
        "{piece} has been replaced {m} times since I started counting.",
        "The log has {n} lines about it, and all of them say the same.",
        "It only happens after lunch, and never when somebody is looking.",
        "The vendor's page says this cannot happen, on page {n}.",
        "With the door open it is {m} degrees cooler and twice as loud.",
        "There are {n} spare parts in the cupboard, none of them this one.",
    ),
    questions=(
        "Has anybody seen this before?",
        "Is it worth repairing, or do we say a few words and let it go?",
        "Would Saturday morning suit everybody?",
        "Who had it open last?",
        "What do people buy nowadays?",
    ),
    answers=(
        "Check {piece} first. On the twin of that machine it was a bent pin.",
        "Ours did that too. A firmware from the year before last cured it.",
        "Leave it on; these fail when they cool down, not when they run.",
        "Swap the two supplies and see whether the fault moves with them.",
        "It is the cable. It is always the cable. I have {n} new ones in my office.",
        "Take mine: it sits under the desk and has done nothing for {n} weeks.",
        "Saturday is fine if the backups are done before you start, and I see them done.",
        "I would buy {m} small disks rather than one large one, and sleep better.",
    ),
    doubts=(
        "It was not the cable last time either.",
        "If you turn it off it will not come back. I have seen the inside of it.",
        "Not Saturday, please: the long run has {n} hours to go.",
        "The one in the cupboard is the one we took out in March.",
        "That machine has no firmware newer than its dust.",
    ),
    thanks=(
        "It was the cable. I will say no more about it.",
        "Thanks, it has been quiet for {n} hours now.",
        "Done, and labelled on both ends. Thank you all.",
        "That did it. {machine} sends its regards.",
    ),
)  # fmt: skip
