"""Countries, and the words by which they and what is theirs go too."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = """
afghanistan afghan; africa african; albania albanian; algeria algerian; angola angolan; argentina argentine
argentinian; armenia armenian; asia asian; australia australian; austria austrian; azerbaijan azerbaijani; bahamas
bahamian; bahrain bahraini; bangladesh bangladeshi; barbados barbadian; belarus belarusian; belgium belgian; bolivia
bolivian; bosnia bosnian; brazil brazilian; bulgaria bulgarian; burma burmese; cambodia cambodian; cameroon
cameroonian; canada canadian; chile chilean; china chinese; colombia colombian; congo congolese; croatia croatian;
cuba cuban; cyprus cypriot; denmark danish; ecuador ecuadorian; egypt egyptian; england english; estonia estonian;
ethiopia ethiopian; europe european; fiji fijian; finland finnish; france french; georgia georgian; germany german;
ghana ghanaian; greece greek; guatemala guatemalan; guyana guyanese; haiti haitian; honduras honduran; hungary
hungarian; iceland icelandic; india indian; indonesia indonesian; iran iranian; iraq iraqi; ireland irish; israel
israeli; italy italian; jamaica jamaican; japan japanese; jordan jordanian; kazakhstan kazakh; kenya kenyan; korea
korean; kuwait kuwaiti; laos laotian; latvia latvian; lebanon lebanese; liberia liberian; libya libyan; lithuania
lithuanian; madagascar malagasy; malawi malawian; malaysia malaysian; mali malian; malta maltese; mauritius mauritian;
mexico mexican; moldova moldovan; mongolia mongolian; morocco moroccan; mozambique mozambican; namibia namibian; nepal
nepalese nepali; netherlands dutch holland; new_zealand new_zealander; nicaragua nicaraguan; nigeria nigerian;
north_korea north_korean; norway norwegian; oman omani; pakistan pakistani; palestine palestinian; panama panamanian;
paraguay paraguayan; peru peruvian; philippines philippine filipino; poland polish; portugal portuguese; qatar qatari;
romania romanian; russia russian; rwanda rwandan; samoa samoan; saudi_arabia saudi; scotland scottish; senegal
senegalese; serbia serbian; singapore singaporean; slovakia slovak; slovenia slovenian; somalia somali; south_africa
south_african; south_korea south_korean; soviet_union soviet; spain spanish; sri_lanka sri_lankan; sudan sudanese;
sweden swedish; switzerland swiss; syria syrian; taiwan taiwanese; tanzania tanzanian; thailand thai; tibet tibetan;
trinidad trinidadian; tunisia tunisian; turkey turkish; uganda ugandan; ukraine ukrainian; united_kingdom british
britain great_britain UK; united_states united_states_of_america american america US USA; uruguay uruguayan; venezuela
venezuelan; vietnam vietnamese; wales welsh; yemen yemeni; yugoslavia yugoslav; zambia zambian; zimbabwe zimbabwean
"""


def _others() -> dict[str, tuple[str, ...]]:
    rows = [[name.replace("_", " ") for name in row.split()] for row in _NAMES.split(";")]
    return {name.lower(): tuple(one for one in row if one != name) for row in rows for name in row}


OTHER_NAMES: Mapping[str, tuple[str, ...]] = _others()
"""The other words for each, in small letters; those in capitals are initials."""
