; A kitchen: the tomato lies on the counter and has to be cooled.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem cold_tomato_on_table)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    countertop_bar_1 fridge_bar_1 diningtable_bar_1 microwave_bar_1 - receptacle
    tomato_bar_1 butterknife_bar_1 apple_bar_1 plate_bar_1 - object
    CounterTopType DiningTableType FridgeType MicrowaveType SinkBasinType - rtype
    AppleType ButterKnifeType KnifeType PlateType TomatoType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation countertop_bar_1 loc_1) (receptacleType countertop_bar_1 CounterTopType)
    (receptacleAtLocation fridge_bar_1 loc_2) (receptacleType fridge_bar_1 FridgeType) (openable fridge_bar_1)
    (receptacleAtLocation diningtable_bar_1 loc_3) (receptacleType diningtable_bar_1 DiningTableType)
    (receptacleAtLocation microwave_bar_1 loc_4) (receptacleType microwave_bar_1 MicrowaveType) (openable microwave_bar_1)
    (inReceptacle tomato_bar_1 countertop_bar_1) (objectAtLocation tomato_bar_1 loc_1) (objectType tomato_bar_1 TomatoType) (pickupable tomato_bar_1) (cleanable tomato_bar_1) (heatable tomato_bar_1) (coolable tomato_bar_1)
    (inReceptacle butterknife_bar_1 countertop_bar_1) (objectAtLocation butterknife_bar_1 loc_1) (objectType butterknife_bar_1 ButterKnifeType) (pickupable butterknife_bar_1)
    (inReceptacle apple_bar_1 fridge_bar_1) (objectAtLocation apple_bar_1 loc_2) (objectType apple_bar_1 AppleType) (pickupable apple_bar_1) (cleanable apple_bar_1) (heatable apple_bar_1) (coolable apple_bar_1)
    (inReceptacle plate_bar_1 diningtable_bar_1) (objectAtLocation plate_bar_1 loc_3) (objectType plate_bar_1 PlateType) (pickupable plate_bar_1) (cleanable plate_bar_1) (heatable plate_bar_1) (coolable plate_bar_1)
    (canContain CounterTopType AppleType) (canContain CounterTopType ButterKnifeType) (canContain CounterTopType PlateType) (canContain CounterTopType TomatoType)
    (canContain DiningTableType AppleType) (canContain DiningTableType ButterKnifeType) (canContain DiningTableType PlateType) (canContain DiningTableType TomatoType)
    (canContain FridgeType AppleType) (canContain FridgeType ButterKnifeType) (canContain FridgeType PlateType) (canContain FridgeType TomatoType)
    (canContain MicrowaveType AppleType) (canContain MicrowaveType ButterKnifeType) (canContain MicrowaveType PlateType) (canContain MicrowaveType TomatoType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o TomatoType) (receptacleType ?r DiningTableType) (inReceptacle ?o ?r) (coolable ?o) (isCool ?o))))
  (:metric minimize (total-cost))
)
