"""The words of which the catalogue is made: 12 categories, 3 kinds of thing in each. Written for adjudge; CC0."""

from dataclasses import dataclass

__all__ = ["AXES", "BRANDS", "KINDS", "Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing: what it is called, where it stands, what it can be like and cost.

    `name` and `materials` are nouns; `extras` are things that come with it, nouns at their end.
    """

    category: str
    aisle: str
    name: str
    materials: tuple[str, ...]
    extras: tuple[str, ...]
    attributes: tuple[str, ...]
    axes: tuple[str, ...]
    prices: tuple[float, float]


def _kind(head: str, materials: str, extras: str, attributes: str, axes: str, prices: tuple[float, float]) -> Kind:
    category, aisle, name = head.split(" / ")
    lists = [tuple(part.strip() for part in text.split(",")) for text in (materials, extras, attributes, axes)]
    return Kind(category, aisle, name, lists[0], lists[1], lists[2], lists[3], prices)


BRANDS = tuple(
    """Oakmere Brindlow Tavisk Quellan Norrvik Pelaria Sundrop Kestova Harlowen Miravel Duskwell Fennimore Galdera
    Ostrava Lumenka Wrenfield Zelbury Carrowby Ivendale Thornesse Juniper Vallory Rookwell Pasmora""".split()  # noqa: SIM905 (as words)
)

AXES = {
    "color": ("black", "white", "navy", "red", "forest green", "grey", "rose gold", "gold", "teal", "mustard", "lilac"),
    "finish": ("matte", "gloss", "brushed", "hammered", "speckled"),
    "size": ("x-small", "small", "medium", "large", "x-large", "xx-large"),
    "bed size": ("twin", "full", "queen", "king"),
    "shoe size": ("6", "7", "8", "9", "10", "11", "12"),
    "volume": ("8 ounce", "12 ounce", "16 ounce", "24 ounce", "32 ounce"),
    "count": ("single", "pack of 2", "pack of 4", "pack of 6", "pack of 12"),
    "length": ("3 feet", "6 feet", "10 feet", "15 feet"),
    "connection": ("wired", "wireless"),
    "scent": ("unscented", "cedar", "citrus", "vanilla", "sea salt", "eucalyptus"),
    "flavor": ("original", "honey", "dark cocoa", "sour cherry", "toasted coconut", "chili"),
    "capacity": ("2 person", "3 person", "4 person", "6 person"),
    "weight": ("2 pound", "5 pound", "8 pound", "12 pound"),
    "fit": ("slim", "regular", "relaxed"),
    "grade": ("beginner", "student", "concert"),
    "ruling": ("blank", "six stave", "ten stave", "twelve stave"),
}

KINDS = (
    _kind(
        "kitchen / drinkware / water bottle",
        "steel, glass, titanium",
        "carry loop, straw lid, silicone sleeve",
        "leak proof, double walled, dishwasher safe, bpa free, wide mouth, freezer safe, scratch resistant",
        "color, volume",
        (9.0, 42.0),
    ),
    _kind(
        "kitchen / drinkware / coffee mug",
        "stoneware, porcelain, enamel",
        "cork base, bamboo lid, gift box",
        "microwave safe, hand painted, lead free, stackable, chip resistant, easy grip",
        "color, finish, count",
        (6.0, 38.0),
    ),
    _kind(
        "kitchen / cookware / frying pan",
        "iron, copper, aluminum",
        "glass lid, helper handle, pan scraper",
        "non stick, oven safe, induction ready, pre seasoned, easy clean, even heating",
        "size, finish",
        (18.0, 95.0),
    ),
    _kind(
        "bedding / sheets / sheet set",
        "cotton, linen, bamboo",
        "deep pockets, pillowcases, storage bag",
        "machine washable, wrinkle resistant, moisture wicking, breathable, fade resistant, hypoallergenic",
        "bed size, color",
        (24.0, 120.0),
    ),
    _kind(
        "bedding / pillows / bed pillow",
        "foam, down, latex",
        "zip cover, travel bag, cooling panel",
        "adjustable loft, hypoallergenic, cooling, neck support, machine washable, side sleeper",
        "bed size, count",
        (15.0, 85.0),
    ),
    _kind(
        "bedding / blankets / throw blanket",
        "fleece, wool, cotton",
        "tassels, carry strap, satin trim",
        "super soft, lightweight, double sided, machine washable, shed free, extra warm",
        "color, size",
        (14.0, 75.0),
    ),
    _kind(
        "footwear / shoes / running shoes",
        "mesh, knit, suede",
        "gel insole, pull tab, spare laces",
        "non slip, arch support, lightweight, breathable, shock absorbing, quick drying",
        "shoe size, color",
        (35.0, 140.0),
    ),
    _kind(
        "footwear / boots / hiking boots",
        "leather, nubuck, canvas",
        "toe guard, wool lining, speed hooks",
        "waterproof, ankle support, slip resistant, insulated, wide toe, steel toe",
        "shoe size, color",
        (55.0, 190.0),
    ),
    _kind(
        "footwear / slippers / house slippers",
        "felt, fleece, wool",
        "rubber sole, heel strap, travel pouch",
        "memory foam, machine washable, indoor outdoor, non slip, open toe, anti odor",
        "shoe size, color",
        (12.0, 60.0),
    ),
    _kind(
        "clothing / jackets / rain jacket",
        "nylon, polyester, canvas",
        "storm hood, zip pockets, stow bag",
        "waterproof, wind resistant, packable, reflective, taped seams, quick drying",
        "size, color",
        (30.0, 150.0),
    ),
    _kind(
        "clothing / shirts / button shirt",
        "linen, cotton, denim",
        "chest pocket, roll sleeves, shell buttons",
        "wrinkle free, stretch fit, machine washable, moisture wicking, stain resistant, uv protection",
        "size, color, fit",
        (18.0, 80.0),
    ),
    _kind(
        "clothing / socks / crew socks",
        "cotton, wool, bamboo",
        "terry sole, ribbed cuff, mesh panel",
        "moisture wicking, seamless toe, arch support, anti odor, cushioned, stay up",
        "size, color, count",
        (7.0, 36.0),
    ),
    _kind(
        "electronics / audio / headphones",
        "aluminum, leather, plastic",
        "charging case, ear pads, boom microphone",
        "noise cancelling, long battery, fast charging, foldable, sweat resistant, deep bass",
        "connection, color",
        (22.0, 260.0),
    ),
    _kind(
        "electronics / cables / charging cable",
        "nylon, silicone, rubber",
        "cable tie, wall plug, angle connector",
        "fast charging, tangle free, braided, reversible, bend tested, data transfer",
        "length, color, count",
        (5.0, 34.0),
    ),
    _kind(
        "electronics / computers / computer mouse",
        "plastic, aluminum, rubber",
        "scroll wheel, thumb rest, usb receiver",
        "silent click, ergonomic, left handed, rechargeable, high precision, plug and play",
        "connection, color",
        (11.0, 90.0),
    ),
    _kind(
        "beauty / skin care / face cream",
        "aloe, oat, shea",
        "pump top, glass jar, travel tube",
        "fragrance free, cruelty free, paraben free, dermatologist tested, oil free, dry skin, sensitive skin",
        "volume, scent",
        (8.0, 64.0),
    ),
    _kind(
        "beauty / hair care / shampoo bar",
        "coconut, argan, rosemary",
        "tin case, soap dish, cotton pouch",
        "sulfate free, plastic free, color safe, cruelty free, anti dandruff, curl defining",
        "scent, count",
        (6.0, 32.0),
    ),
    _kind(
        "beauty / nails / nail polish",
        "gel, acrylic, mica",
        "wide brush, top coat, nail file",
        "quick drying, long lasting, non toxic, cruelty free, chip resistant, high shine",
        "color, finish, count",
        (4.0, 28.0),
    ),
    _kind(
        "garden / tools / pruning shears",
        "steel, carbon, aluminum",
        "safety lock, belt holster, spare spring",
        "rust resistant, ergonomic, non slip, left handed, self sharpening, heavy duty",
        "size, color",
        (12.0, 58.0),
    ),
    _kind(
        "garden / watering / garden hose",
        "rubber, brass, latex",
        "spray nozzle, hose reel, wall hanger",
        "kink free, leak proof, expandable, drinking safe, burst resistant, lightweight",
        "length, color",
        (16.0, 88.0),
    ),
    _kind(
        "garden / planters / plant pot",
        "clay, concrete, resin",
        "drip saucer, drain plug, wood stand",
        "self watering, frost proof, uv protection, indoor outdoor, hand painted, lightweight",
        "size, color, finish",
        (8.0, 70.0),
    ),
    _kind(
        "grocery / snacks / trail mix",
        "almond, cashew, raisin",
        "resealable bag, snack cups, sharing tub",
        "gluten free, non gmo, low sodium, high protein, dairy free, no sugar added",
        "flavor, count",
        (5.0, 40.0),
    ),
    _kind(
        "grocery / tea / loose tea",
        "oolong, rooibos, chamomile",
        "steel tin, paper filters, tea spoon",
        "caffeine free, fair trade, usda organic, small batch, non gmo, stone ground",
        "flavor, weight",
        (7.0, 46.0),
    ),
    _kind(
        "grocery / spreads / nut butter",
        "peanut, hazelnut, sesame",
        "glass jar, squeeze pack, gift crate",
        "palm oil free, keto friendly, high protein, dairy free, no sugar added, stone ground",
        "flavor, count",
        (6.0, 44.0),
    ),
    _kind(
        "furniture / seating / office chair",
        "mesh, leather, velvet",
        "head rest, foot rest, lumbar cushion",
        "height adjustable, lumbar support, easy assembly, heavy duty, swivel base, breathable",
        "color, size",
        (75.0, 420.0),
    ),
    _kind(
        "furniture / storage / book shelf",
        "oak, pine, iron",
        "wall anchors, felt feet, side hooks",
        "easy assembly, space saving, scratch resistant, anti tip, open back, heavy duty",
        "color, finish",
        (40.0, 260.0),
    ),
    _kind(
        "furniture / tables / coffee table",
        "walnut, marble, glass",
        "storage drawer, lower shelf, metal legs",
        "easy assembly, lift top, space saving, water resistant, rounded corners, mid century",
        "color, size",
        (60.0, 380.0),
    ),
    _kind(
        "outdoors / camping / camping tent",
        "polyester, canvas, nylon",
        "rain fly, ground sheet, gear loft",
        "waterproof, quick setup, wind resistant, freestanding, uv protection, four season",
        "capacity, color",
        (48.0, 340.0),
    ),
    _kind(
        "outdoors / lights / head lamp",
        "aluminum, plastic, silicone",
        "red filter, spare strap, usb cord",
        "rechargeable, water resistant, motion sensor, long battery, tilt adjustable, lightweight",
        "color, count",
        (9.0, 68.0),
    ),
    _kind(
        "outdoors / packs / day pack",
        "nylon, canvas, polyester",
        "rain cover, laptop sleeve, hip belt",
        "water resistant, foldable, anti theft, padded straps, lightweight, reflective",
        "color, volume",
        (19.0, 130.0),
    ),
    _kind(
        "pets / dogs / dog leash",
        "nylon, leather, rope",
        "padded handle, bag holder, swivel clip",
        "tangle free, reflective, chew proof, shock absorbing, heavy duty, quick drying",
        "length, color",
        (8.0, 46.0),
    ),
    _kind(
        "pets / cats / cat tree",
        "sisal, plush, pine",
        "scratch post, feather toy, hanging bed",
        "easy assembly, anti tip, machine washable, space saving, carpet covered, heavy duty",
        "color, size",
        (28.0, 170.0),
    ),
    _kind(
        "pets / feeding / pet bowl",
        "steel, ceramic, bamboo",
        "rubber ring, raised stand, food scoop",
        "dishwasher safe, non slip, slow feeding, rust resistant, spill proof, bpa free",
        "volume, color, count",
        (6.0, 42.0),
    ),
    _kind(
        "music / strings / violin bow",
        "carbon, maple, rosewood",
        "horse hair, rosin cake, bow case",
        "hand made, well balanced, octagonal stick, lightweight, full lined, silver wound",
        "grade, color",
        (25.0, 240.0),
    ),
    _kind(
        "music / stands / music stand",
        "steel, aluminum, beech",
        "carry bag, clip light, page holder",
        "height adjustable, foldable, tilt adjustable, non slip, heavy duty, quick setup",
        "color, finish",
        (14.0, 95.0),
    ),
    _kind(
        "music / paper / manuscript book",
        "cotton, kraft, bamboo",
        "elastic band, page marker, pen loop",
        "acid free, lay flat, bleed proof, recycled, hard cover, numbered pages",
        "ruling, color, count",
        (4.0, 36.0),
    ),
)
