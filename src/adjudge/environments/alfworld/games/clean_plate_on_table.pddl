; A kitchen: the plate has to be washed on its way to the table.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem clean_plate_on_table)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    countertop_bar_1 sink_bar_1_bar_basin diningtable_bar_1 cabinet_bar_1 - receptacle
    plate_bar_1 spoon_bar_1 cloth_bar_1 apple_bar_1 bowl_bar_1 - object
    CabinetType CounterTopType DiningTableType FridgeType MicrowaveType SinkBasinType - rtype
    AppleType BowlType ButterKnifeType ClothType KnifeType PlateType SpoonType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation countertop_bar_1 loc_1) (receptacleType countertop_bar_1 CounterTopType)
    (receptacleAtLocation sink_bar_1_bar_basin loc_2) (receptacleType sink_bar_1_bar_basin SinkBasinType)
    (receptacleAtLocation diningtable_bar_1 loc_3) (receptacleType diningtable_bar_1 DiningTableType)
    (receptacleAtLocation cabinet_bar_1 loc_4) (receptacleType cabinet_bar_1 CabinetType) (openable cabinet_bar_1)
    (inReceptacle plate_bar_1 countertop_bar_1) (objectAtLocation plate_bar_1 loc_1) (objectType plate_bar_1 PlateType) (pickupable plate_bar_1) (cleanable plate_bar_1) (heatable plate_bar_1) (coolable plate_bar_1)
    (inReceptacle spoon_bar_1 countertop_bar_1) (objectAtLocation spoon_bar_1 loc_1) (objectType spoon_bar_1 SpoonType) (pickupable spoon_bar_1) (cleanable spoon_bar_1)
    (inReceptacle cloth_bar_1 sink_bar_1_bar_basin) (objectAtLocation cloth_bar_1 loc_2) (objectType cloth_bar_1 ClothType) (pickupable cloth_bar_1) (cleanable cloth_bar_1)
    (inReceptacle apple_bar_1 diningtable_bar_1) (objectAtLocation apple_bar_1 loc_3) (objectType apple_bar_1 AppleType) (pickupable apple_bar_1) (cleanable apple_bar_1) (heatable apple_bar_1) (coolable apple_bar_1)
    (inReceptacle bowl_bar_1 cabinet_bar_1) (objectAtLocation bowl_bar_1 loc_4) (objectType bowl_bar_1 BowlType) (pickupable bowl_bar_1) (cleanable bowl_bar_1) (coolable bowl_bar_1)
    (canContain CabinetType AppleType) (canContain CabinetType BowlType) (canContain CabinetType ClothType) (canContain CabinetType PlateType) (canContain CabinetType SpoonType)
    (canContain CounterTopType AppleType) (canContain CounterTopType BowlType) (canContain CounterTopType ClothType) (canContain CounterTopType PlateType) (canContain CounterTopType SpoonType)
    (canContain DiningTableType AppleType) (canContain DiningTableType BowlType) (canContain DiningTableType ClothType) (canContain DiningTableType PlateType) (canContain DiningTableType SpoonType)
    (canContain SinkBasinType AppleType) (canContain SinkBasinType BowlType) (canContain SinkBasinType ClothType) (canContain SinkBasinType PlateType) (canContain SinkBasinType SpoonType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o PlateType) (receptacleType ?r DiningTableType) (inReceptacle ?o ?r) (cleanable ?o) (isClean ?o))))
  (:metric minimize (total-cost))
)
