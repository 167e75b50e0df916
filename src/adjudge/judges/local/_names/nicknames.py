"""First names and the short forms by which people go."""

from __future__ import annotations

from adjudge.judges.local._reading.words import stem

_FULL = """
abigail abby gail; abraham abe bram; agnes aggie; alan al; albert al bert bertie; alexander alex alec sandy sasha
xander; alexandra alex sandra sasha; alfred al alf alfie fred; amanda mandy; andrew andy drew; angela angie; anne
annie nancy; anthony tony; antonio tony; arnold arnie; arthur art artie; augustus gus; barbara barb barbie babs;
barnaby barney; bartholomew bart; beatrice bea trixie; benjamin ben benny benji; bernard bernie; bradley brad; calvin
cal; caroline carrie; catherine cathy kate katie kitty; charles charlie charley chuck chas chip; charlotte charlie
lottie; chester chet; christian chris; christina chris chrissie tina; christine chris chrissie tina; christopher chris
kit topher; clifford cliff; clinton clint; constance connie; curtis curt; cynthia cindy; daniel dan danny; david dave
davy davey; deborah deb debbie; dennis denny; dmitri dima; donald don donnie donny; dorothy dot dottie dolly; douglas
doug; edgar ed; edmund ed eddie ned ted; edward ed eddie ned ted teddy; edwin ed eddie; eleanor ellie nell nellie
nora; elizabeth liz lizzie beth bess betsy betty eliza libby; emanuel manny; eric rick ricky; ernest ernie; eugene
gene; florence flo; frances fran frankie fanny; francis frank; francisco paco pancho; franklin frank; frederick fred
freddie freddy; friedrich fritz; gabriel gabe; geoffrey geoff jeff; gerald gerry jerry; gerard gerry; gilbert gil
bert; gregory greg; gwendolyn gwen; harold harry hal; harrison harry; helen nell; henry harry hank hal; herbert herb
bert; isaac ike; isabel bella izzy; isabella bella izzy; jackson jack; jacob jake jack; jacqueline jackie; james jim
jimmy jamie; janet jan; jeffrey jeff; jennifer jen jenny; jeremiah jerry; jeremy jerry; jerome jerry; jessica jess
jessie; johannes hans; john johnny johnnie jack; jonathan jon johnny; jose pepe; joseph joe joey; josephine jo josie;
joshua josh; judith judy; katherine kathy kate katie kitty kay; kathleen kathy kate; kenneth ken kenny; kimberly kim;
lawrence larry laurie; leonard len lenny leo; leonardo leo; leopold leo; leslie les; lewis lew; lionel leo; louis lou
louie; louise lou; lucille lucy; margaret maggie marge margie meg peggy greta rita; marjorie marge; martin marty; mary
molly polly; matilda tilly; matthew matt; maximilian max; maxwell max; melvin mel; michael mike mikey mick mickey;
mikhail misha; mitchell mitch; montgomery monty; nathan nat nate; nathaniel nat nate; nicholas nick nicky; nicole
nicky; nikolaus niki klaus; norman norm; oliver ollie; pamela pam; patricia pat patty tricia trish; patrick pat paddy;
peter pete; philip phil pip; phillip phil; priscilla cilla; randall randy; randolph randy; raymond ray; rebecca becky;
reginald reg reggie; richard dick rick ricky rich richie; robert bob bobby rob robbie bert; roderick rod; rodney rod;
ronald ron ronnie; rosemary rose rosie; rudolph rudy; russell russ; samantha sam; samuel sam sammy; sarah sally sadie;
sebastian seb; sidney sid; solomon sol; stanley stan; stephen steve stevie; steven steve stevie; stuart stu; susan sue
susie; sylvester sly; terence terry; teresa terry tess; theodore ted teddy theo; thomas tom tommy; timothy tim timmy;
valerie val; victor vic; victoria vicky tori; vincent vince vinnie; virginia ginny; walter walt wally; wilfred wilf;
william bill billy will willie willy; woodrow woody; zachary zach zack; alexander aleksandr alexandre; charles karl
carl; christopher cristoforo cristobal; ferdinand fernando; frederick friedrich frederic fryderyk; fyodor fedor
feodor; george georg georges; henry henri heinrich; joan jeanne; john johann; joseph josef; leo lev; louis luis; mark
marcus; mary maria marie; maria marie; michael mikhail michel; muhammad mohammed mohammad mohamed muhammed; nicholas
nikolai nicolas nicolaus; paul pavel; peter pyotr piotr petr; philip philippe felipe; stephen stefan; thomas tomas;
vladimir wladimir; william wilhelm guillaume
"""

_FORMS: dict[str, set[str]] = {}
for _full, *_shorts in (line.split() for line in _FULL.split(";")):
    for _short in _shorts:
        _FORMS.setdefault(stem(_short), set()).add(stem(_full))
        _FORMS.setdefault(stem(_full), set()).add(stem(_short))


def is_nickname(one: str, other: str) -> bool:
    """Return whether of a word and a stem one is a short form of the other.

    >>> is_nickname("johnny", stem("john")), is_nickname("nicholas", stem("nick")), is_nickname("bill", stem("will"))
    (True, True, False)
    """
    return stem(one) in _FORMS.get(other, ())
