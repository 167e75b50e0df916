; A small flat: two pillows lie in two places; only one can be carried.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem two_pillows_on_sofa)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    armchair_bar_1 bed_bar_1 sofa_bar_1 coffeetable_bar_1 - receptacle
    pillow_bar_2 pillow_bar_1 book_bar_1 remotecontrol_bar_1 vase_bar_1 - object
    ArmchairType BedType CoffeeTableType FridgeType MicrowaveType SinkBasinType SofaType - rtype
    BookType ButterKnifeType KnifeType PillowType RemoteControlType VaseType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation armchair_bar_1 loc_1) (receptacleType armchair_bar_1 ArmchairType)
    (receptacleAtLocation bed_bar_1 loc_2) (receptacleType bed_bar_1 BedType)
    (receptacleAtLocation sofa_bar_1 loc_3) (receptacleType sofa_bar_1 SofaType)
    (receptacleAtLocation coffeetable_bar_1 loc_4) (receptacleType coffeetable_bar_1 CoffeeTableType)
    (inReceptacle pillow_bar_2 armchair_bar_1) (objectAtLocation pillow_bar_2 loc_1) (objectType pillow_bar_2 PillowType) (pickupable pillow_bar_2)
    (inReceptacle pillow_bar_1 bed_bar_1) (objectAtLocation pillow_bar_1 loc_2) (objectType pillow_bar_1 PillowType) (pickupable pillow_bar_1)
    (inReceptacle book_bar_1 bed_bar_1) (objectAtLocation book_bar_1 loc_2) (objectType book_bar_1 BookType) (pickupable book_bar_1)
    (inReceptacle remotecontrol_bar_1 sofa_bar_1) (objectAtLocation remotecontrol_bar_1 loc_3) (objectType remotecontrol_bar_1 RemoteControlType) (pickupable remotecontrol_bar_1)
    (inReceptacle vase_bar_1 coffeetable_bar_1) (objectAtLocation vase_bar_1 loc_4) (objectType vase_bar_1 VaseType) (pickupable vase_bar_1)
    (canContain ArmchairType BookType) (canContain ArmchairType PillowType) (canContain ArmchairType RemoteControlType) (canContain ArmchairType VaseType)
    (canContain BedType BookType) (canContain BedType PillowType) (canContain BedType RemoteControlType) (canContain BedType VaseType)
    (canContain CoffeeTableType BookType) (canContain CoffeeTableType PillowType) (canContain CoffeeTableType RemoteControlType) (canContain CoffeeTableType VaseType)
    (canContain SofaType BookType) (canContain SofaType PillowType) (canContain SofaType RemoteControlType) (canContain SofaType VaseType)
  )
  (:goal (exists (?r - receptacle ?one - object ?other - object)
    (and (receptacleType ?r SofaType) (not (= ?one ?other))
      (objectType ?one PillowType) (inReceptacle ?one ?r) (objectType ?other PillowType) (inReceptacle ?other ?r))))
  (:metric minimize (total-cost))
)
