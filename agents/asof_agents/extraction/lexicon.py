"""Word lists of English that the rules share: function words, hedges, vague nouns."""

FIRST_PERSON = frozenset({"i", "we"})
SPEAKER_WORDS = frozenset({"i", "my", "we", "our", "me", "mine", "us", "myself"})
HE = frozenset({"he", "his", "him"})
SHE = frozenset({"she", "her"})
SUBJECT_PRONOUNS = frozenset({"i", "we", "he", "she", "they", "you", "it"})
PRONOUNS = frozenset(
    "i me my mine myself we us our ours you your yours yourself he him his she her hers they them their theirs it its "
    "this that these those who whom whose which what someone something anyone anything everyone everything nothing nobody "
    "one ones each both all none another other others here there y'all somebody anybody everybody themselves himself "
    "herself itself ourselves yourselves 's".split()
)
DETERMINERS = frozenset({"a", "an", "the", "my", "our", "some"})
FOREIGN_DETERMINERS = frozenset("your yours his her their its this that these those any no every each whose".split())

PREPOSITIONS = frozenset(
    "in on at to from with without for by about as into onto over under after before during through since until till "
    "around near across against along among behind beside besides between beyond despite down except inside like off out outside past "
    "per than toward towards up upon via within of throughout because due including regarding amid instead".split()
)
CONJUNCTIONS = frozenset(
    "and or but nor so yet because 'cause cuz cause since when while where if that which who whom though "
    "although unless until after before as than whether whenever wherever how why what plus & then".split()
)
BOUNDARIES = frozenset({";", "-", "–", "—", "but", ":", "(", ")", "..."})
CLAUSE_STARTS = frozenset(
    ", ; : - – — ( ) and but so because 'cause since when while after before although though plus that as".split()
)

AUXILIARIES = frozenset(
    "am is are was were be been being 's 'd have has had do does did will would can could may might must shall should "
    "gonna wanna gotta ought not cannot".split()
)
ADVERBS = frozenset(
    "just recently finally also already still even always really actually usually often currently now then once soon "
    "officially definitely totally absolutely truly simply lately originally eventually mostly mainly first last "
    "only almost nearly happily sadly luckily fortunately unfortunately basically literally seriously honestly "
    "super so very pretty quite kinda sorta too rather extremely incredibly especially particularly regularly together ever "
    "both all proudly secretly suddenly immediately quickly apparently initially previously formerly temporarily permanently "
    "completely deeply sort instead anymore busy".split()
)
UNSURE_MODALS = frozenset("would could may might must should shall 'd can wanna gotta ought cannot".split())
# said anywhere in a sentence, these leave nothing in it sure
UNSURE_SENTENCE = frozenset(
    "maybe perhaps probably possibly supposedly apparently allegedly hypothetically might wish wishing wished joking kidding "
    "pretend pretending imagine imagining if unless whether hopefully rumor rumour suppose doubt assume seems seemed".split()
)
# from these on, until the next boundary, it is someone's thought, wish or report
UNSURE_FROM = frozenset(
    "think thinks thought thinking hope hopes hoping hoped believe believes want wants wanted wanting dream dreams dreamed dreaming "
    "consider considering considered said says say saying told tells telling tell asked asks ask heard hear hears claims claimed mentioned mentions "
    "suggested suggests suggest wonder wondering wondered feel feels expect expecting try trying tries tried need needs needed seem seems "
    "rumored reportedly according would could should can able love-to hearing read-that remember bet swear promise promised "
    "offered asking whoever whichever recommend recommended recommends".split()
)

VAGUE = frozenset(
    "thing things stuff lot lots bit way ways time times one ones idea ideas some fun difference mind sense sure part kind "
    "sort type types everything anything something nothing someone people person folks guy guys man woman men women place places "
    "life day days night week weekend month year moment moments today tomorrow yesterday tonight chance choice look break "
    "blast ton tons bunch couple few number rest others another more less much many most all none both best better worse "
    "good great nice cool awesome amazing bad happy sad sorry glad excited proud busy tired hard easy tough fine okay ok "
    "well right wrong back home here there inside outside away together again alone myself yourself himself herself care "
    "progress point reason reasons question questions answer answers problem problems issue issues change changes decision "
    "decisions plan plans goal goals dream dreams hope effort efforts end start beginning job work feeling feelings mistake mistakes "
    "friend friends memory memories experience experiences opportunity opportunities connection connections impact journey "
    "step steps success support help advice tip tips thanks thank feedback word words update updates news pic pics picture pictures "
    "photo photos conversation conversations chat love hug hugs vibe vibes energy strength courage joy happiness peace comfort "
    "challenge challenges struggle struggles situation situations side sides course attention interest interests skill skills "
    "sound sounds fact minute hour hours while bed sleep shower breath deal deals touch track control charge shape "
    "kinds variety range set pair group groups area areas stage level line lines page pages list case cases result results order "
    "money cash confidence balance focus motivation inspiration perspective insight insights purpose value values meaning boost "
    "hit hits turn turns shot try go mess fool room space cool trouble hell world guess own rush call calls self new first next "
    "last second third same different such perfect true real special own full big small little long short high low open free only "
    "lunch breakfast dinner meal meals food drink drinks note notes view views smile smiles laugh laughs talk offer message messages "
    "wonders wonder wish wishes hang role roles addition additions nerves thoughts minds heart hearts soul eye eyes hand hands head face voice body leg legs toll form forms "
    "name names age lead use sight sights ride game win loss hold grip bond bonds relationship relationships reaction reactions "
    "bunch handful plenty amount piece pieces rid ready possible impossible together everywhere somewhere anywhere nowhere".split()
)
# gerunds that say nothing of themselves
VAGUE_GERUNDS = frozenset(
    "being having getting going doing making seeing spending taking trying using giving helping finding feeling knowing looking "
    "coming putting keeping letting thinking talking hearing telling saying asking meeting working living watching bringing showing "
    "sharing creating learning exploring experiencing connecting turning becoming following something anything nothing everything "
    "supporting chatting catching hanging loving enjoying moving building reaching pushing chasing facing growing morning evening feeling "
    "seeing inspiring amazing exciting interesting relaxing rewarding during bonding starting finishing combining setting discovering "
    "trying playing pushing hitting digging adding challenging remembering buying discussing receiving reminiscing ending".split()
)
# and these not even with an object
EMPTY_GERUNDS = frozenset(
    "being having getting going doing making seeing spending taking giving feeling knowing looking coming putting keeping "
    "letting thinking talking hearing telling saying asking meeting bringing showing sharing something anything nothing everything "
    "morning evening during connecting amazing exciting interesting inspiring relaxing rewarding".split()
)
# capital letters that name nothing: words that only begin sentences, days, months, interjections
NOT_NAMES = frozenset(
    "i i'm wow thanks thank hey hi hello yes yeah yep yup no nope nah ok okay oh ah aw aww awww oof ugh hmm haha lol omg great good nice cool "
    "awesome amazing sure absolutely definitely totally exactly well so and but or because since when while if then also "
    "just really actually maybe perhaps not never always sometimes often today tomorrow yesterday tonight last next this "
    "that these those the a an my your his her its our their it we you he she they who what where why how which whose there here "
    "is are was were be been being am do does did have has had can could will would should may might must let lets please "
    "for from with without at in on to of by about as into over under after before during through until up down out off than like "
    "more most much many some any all both each every few other another such only own same very too now once again ever still already "
    "even yet though although however anyway besides instead meanwhile later earlier recently lately finally soon first second third "
    "one two three four five six seven eight nine ten monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays january february march april may june july august september october november december jan feb mar apr "
    "jun jul aug sep sept oct nov dec spring summer autumn fall winter morning afternoon evening night weekend week month year "
    "glad happy sorry congrats congratulations welcome bye goodbye cheers sounds looks seems feels guess gonna wanna gotta got get "
    "woah whoa woohoo yay phew damn gosh god jeez man dude buddy bro mate pal friend guys folks everyone everybody someone anyone "
    "mom dad mum mama papa mother father grandma grandpa aunt uncle sir madam mr mrs ms dr tv ok pm am pic photo image ps btw fyi asap imo imho "
    "love loving life work working time things thing lots keep keeping look looking talk talking take taking hope hoping "
    "good-bye nothing something everything anything none nobody family kids people speaking gotcha good-luck luck best "
    "sadly luckily fortunately unfortunately honestly personally basically especially sweet fantastic wonderful perfect "
    "interesting beautiful lovely gorgeous impressive incredible fun funny true right wrong correct agreed indeed obviously certainly "
    "plus minus via vs etc wishing believe remember check anytime whenever wherever whatever whoever hah heh huh ha ooh mhm "
    "appreciate enjoy enjoying having being seeing making getting doing going trying using finding dear hiya howdy yo sup".split()
)
# after these a name is spoken to, not spoken of
GREETINGS = frozenset(
    "hey hi hello thanks thank bye goodbye yeah yes no nope wow congrats congratulations oh cheers sure okay ok yep "
    "dear sorry absolutely definitely totally exactly agreed woah whoa hiya aw aww woohoo yup nah awesome cool great nice sounds right "
    "well so you night morning luck welcome job one ya haha lol thx please".split()
)

# nouns for a person without a name: whom "he" or "she" may mean just as well
PEOPLE_NOUNS = frozenset(
    "brother sister mother father mom dad mum son daughter husband wife boyfriend girlfriend partner friend boss colleague "
    "coworker cousin aunt uncle niece nephew grandma grandpa grandmother grandfather kid child baby guy man woman girl boy lady "
    "teacher coach mentor doctor neighbor neighbour roommate dog puppy cat kitten pet author artist director singer teammate "
    "manager nephew someone somebody person student client customer fiancé fiancée sibling".split()
)

# the plainest words for what is read, seen or attended: alone they say nothing
BARE = frozenset(
    "book books movie movies film films show shows event events game games project projects story stories song songs class classes "
    "series tool tools pet pets animal animals activity activities topic location team teams club company place session sessions drive "
    "play plays piece store shop school city country town campaign program app site website system product run walk talk meeting "
    "dessert desserts recipe recipes dish dishes item items gift gifts sport sports stuff hobby hobbies skills tour post posts article articles".split()
)

# they praise or count, and would keep one thing from being the same as another
ORNAMENTS = frozenset(
    "own real more most amazing awesome great good nice cool lovely full big beautiful fun funny delicious yummy new old first second "
    "third last next latest favorite favourite fave other another special super-cool incredible wonderful gorgeous fantastic "
    "sweet cute little small large huge tasty various several certain different such many few exciting interesting perfect "
    "annual upcoming recent fancy brand-new great exact same inspiring unique adorable stunning epic decent simple quick short "
    "two three four five six seven eight nine ten coolest best biggest greatest nicest latest amazing-looking good-looking much-needed super "
    "long wild crazy whole entire neat rewarding emotional tough intense fresh few personal local nearby".split()
)
