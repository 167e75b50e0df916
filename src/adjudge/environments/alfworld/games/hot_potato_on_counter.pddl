; A kitchen: somebody threw the potato away.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem hot_potato_on_counter)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    countertop_bar_1 microwave_bar_1 garbagecan_bar_1 fridge_bar_1 - receptacle
    knife_bar_1 plate_bar_1 cup_bar_1 potato_bar_1 egg_bar_1 - object
    CounterTopType FridgeType GarbageCanType MicrowaveType SinkBasinType - rtype
    ButterKnifeType CupType EggType KnifeType PlateType PotatoType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation countertop_bar_1 loc_1) (receptacleType countertop_bar_1 CounterTopType)
    (receptacleAtLocation microwave_bar_1 loc_2) (receptacleType microwave_bar_1 MicrowaveType) (openable microwave_bar_1)
    (receptacleAtLocation garbagecan_bar_1 loc_3) (receptacleType garbagecan_bar_1 GarbageCanType)
    (receptacleAtLocation fridge_bar_1 loc_4) (receptacleType fridge_bar_1 FridgeType) (openable fridge_bar_1)
    (inReceptacle knife_bar_1 countertop_bar_1) (objectAtLocation knife_bar_1 loc_1) (objectType knife_bar_1 KnifeType) (pickupable knife_bar_1)
    (inReceptacle plate_bar_1 countertop_bar_1) (objectAtLocation plate_bar_1 loc_1) (objectType plate_bar_1 PlateType) (pickupable plate_bar_1) (cleanable plate_bar_1) (heatable plate_bar_1) (coolable plate_bar_1)
    (inReceptacle cup_bar_1 microwave_bar_1) (objectAtLocation cup_bar_1 loc_2) (objectType cup_bar_1 CupType) (pickupable cup_bar_1) (cleanable cup_bar_1) (heatable cup_bar_1) (coolable cup_bar_1)
    (inReceptacle potato_bar_1 garbagecan_bar_1) (objectAtLocation potato_bar_1 loc_3) (objectType potato_bar_1 PotatoType) (pickupable potato_bar_1) (cleanable potato_bar_1) (heatable potato_bar_1) (coolable potato_bar_1)
    (inReceptacle egg_bar_1 fridge_bar_1) (objectAtLocation egg_bar_1 loc_4) (objectType egg_bar_1 EggType) (pickupable egg_bar_1) (cleanable egg_bar_1) (heatable egg_bar_1) (coolable egg_bar_1)
    (canContain CounterTopType CupType) (canContain CounterTopType EggType) (canContain CounterTopType KnifeType) (canContain CounterTopType PlateType) (canContain CounterTopType PotatoType)
    (canContain FridgeType CupType) (canContain FridgeType EggType) (canContain FridgeType KnifeType) (canContain FridgeType PlateType) (canContain FridgeType PotatoType)
    (canContain GarbageCanType CupType) (canContain GarbageCanType EggType) (canContain GarbageCanType KnifeType) (canContain GarbageCanType PlateType) (canContain GarbageCanType PotatoType)
    (canContain MicrowaveType CupType) (canContain MicrowaveType EggType) (canContain MicrowaveType KnifeType) (canContain MicrowaveType PlateType) (canContain MicrowaveType PotatoType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o PotatoType) (receptacleType ?r CounterTopType) (inReceptacle ?o ?r) (heatable ?o) (isHot ?o))))
  (:metric minimize (total-cost))
)
