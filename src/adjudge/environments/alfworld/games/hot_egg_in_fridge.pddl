; A kitchen: the egg is in the cabinet; cooled on the way it would not count.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem hot_egg_in_fridge)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    cabinet_bar_1 microwave_bar_1 fridge_bar_1 diningtable_bar_1 - receptacle
    egg_bar_1 tomato_bar_1 bowl_bar_1 spoon_bar_1 - object
    CabinetType DiningTableType FridgeType MicrowaveType SinkBasinType - rtype
    BowlType ButterKnifeType EggType KnifeType SpoonType TomatoType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation cabinet_bar_1 loc_1) (receptacleType cabinet_bar_1 CabinetType) (openable cabinet_bar_1)
    (receptacleAtLocation microwave_bar_1 loc_2) (receptacleType microwave_bar_1 MicrowaveType) (openable microwave_bar_1)
    (receptacleAtLocation fridge_bar_1 loc_3) (receptacleType fridge_bar_1 FridgeType) (openable fridge_bar_1)
    (receptacleAtLocation diningtable_bar_1 loc_4) (receptacleType diningtable_bar_1 DiningTableType)
    (inReceptacle egg_bar_1 cabinet_bar_1) (objectAtLocation egg_bar_1 loc_1) (objectType egg_bar_1 EggType) (pickupable egg_bar_1) (cleanable egg_bar_1) (heatable egg_bar_1) (coolable egg_bar_1)
    (inReceptacle tomato_bar_1 fridge_bar_1) (objectAtLocation tomato_bar_1 loc_3) (objectType tomato_bar_1 TomatoType) (pickupable tomato_bar_1) (cleanable tomato_bar_1) (heatable tomato_bar_1) (coolable tomato_bar_1)
    (inReceptacle bowl_bar_1 diningtable_bar_1) (objectAtLocation bowl_bar_1 loc_4) (objectType bowl_bar_1 BowlType) (pickupable bowl_bar_1) (cleanable bowl_bar_1) (coolable bowl_bar_1)
    (inReceptacle spoon_bar_1 diningtable_bar_1) (objectAtLocation spoon_bar_1 loc_4) (objectType spoon_bar_1 SpoonType) (pickupable spoon_bar_1) (cleanable spoon_bar_1)
    (canContain CabinetType BowlType) (canContain CabinetType EggType) (canContain CabinetType SpoonType) (canContain CabinetType TomatoType)
    (canContain DiningTableType BowlType) (canContain DiningTableType EggType) (canContain DiningTableType SpoonType) (canContain DiningTableType TomatoType)
    (canContain FridgeType BowlType) (canContain FridgeType EggType) (canContain FridgeType SpoonType) (canContain FridgeType TomatoType)
    (canContain MicrowaveType BowlType) (canContain MicrowaveType EggType) (canContain MicrowaveType SpoonType) (canContain MicrowaveType TomatoType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o EggType) (receptacleType ?r FridgeType) (inReceptacle ?o ?r) (heatable ?o) (isHot ?o))))
  (:metric minimize (total-cost))
)
