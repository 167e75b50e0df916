; A living room: the card is in one of two closed drawers.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem card_by_floorlamp)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    drawer_bar_2 drawer_bar_1 sidetable_bar_1 sofa_bar_1 - receptacle
    pen_bar_1 creditcard_bar_1 floorlamp_bar_1 tissuebox_bar_1 pillow_bar_1 newspaper_bar_1 - object
    DrawerType FridgeType MicrowaveType SideTableType SinkBasinType SofaType - rtype
    ButterKnifeType CreditCardType FloorLampType KnifeType NewspaperType PenType PillowType TissueBoxType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation drawer_bar_2 loc_1) (receptacleType drawer_bar_2 DrawerType) (openable drawer_bar_2)
    (receptacleAtLocation drawer_bar_1 loc_2) (receptacleType drawer_bar_1 DrawerType) (openable drawer_bar_1)
    (receptacleAtLocation sidetable_bar_1 loc_3) (receptacleType sidetable_bar_1 SideTableType)
    (receptacleAtLocation sofa_bar_1 loc_4) (receptacleType sofa_bar_1 SofaType)
    (inReceptacle pen_bar_1 drawer_bar_2) (objectAtLocation pen_bar_1 loc_1) (objectType pen_bar_1 PenType) (pickupable pen_bar_1)
    (inReceptacle creditcard_bar_1 drawer_bar_1) (objectAtLocation creditcard_bar_1 loc_2) (objectType creditcard_bar_1 CreditCardType) (pickupable creditcard_bar_1)
    (inReceptacle floorlamp_bar_1 sidetable_bar_1) (objectAtLocation floorlamp_bar_1 loc_3) (objectType floorlamp_bar_1 FloorLampType) (toggleable floorlamp_bar_1)
    (inReceptacle tissuebox_bar_1 sidetable_bar_1) (objectAtLocation tissuebox_bar_1 loc_3) (objectType tissuebox_bar_1 TissueBoxType) (pickupable tissuebox_bar_1)
    (inReceptacle pillow_bar_1 sofa_bar_1) (objectAtLocation pillow_bar_1 loc_4) (objectType pillow_bar_1 PillowType) (pickupable pillow_bar_1)
    (inReceptacle newspaper_bar_1 sofa_bar_1) (objectAtLocation newspaper_bar_1 loc_4) (objectType newspaper_bar_1 NewspaperType) (pickupable newspaper_bar_1)
    (canContain DrawerType CreditCardType) (canContain DrawerType NewspaperType) (canContain DrawerType PenType) (canContain DrawerType PillowType) (canContain DrawerType TissueBoxType)
    (canContain SideTableType CreditCardType) (canContain SideTableType NewspaperType) (canContain SideTableType PenType) (canContain SideTableType PillowType) (canContain SideTableType TissueBoxType)
    (canContain SofaType CreditCardType) (canContain SofaType NewspaperType) (canContain SofaType PenType) (canContain SofaType PillowType) (canContain SofaType TissueBoxType)
  )
  (:goal (exists (?o - object ?lamp - object ?a - agent ?l - location)
    (and (objectType ?o CreditCardType) (holds ?a ?o) (atLocation ?a ?l)
      (objectType ?lamp FloorLampType) (objectAtLocation ?lamp ?l) (isToggled ?lamp))))
  (:metric minimize (total-cost))
)
